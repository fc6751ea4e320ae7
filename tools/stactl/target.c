/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that ask the running target. */
#include "stactl.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/compiler.h"

/* What a controller may take to stop and to start: CAP.TO, twice, and its admin commands. */
#define RESET_TIMEOUT_S 300

/* Call @method, and print its result as JSON or with @print. */
static int show(struct stactl *ctl, const char *method, json_object *params,
		void (*print)(json_object *result))
{
	json_object *result = NULL;

	if (stactl_call(ctl, method, params, &result))
		return -1;
	if (ctl->is_json)
		stactl_print_json(result);
	else
		print(result);
	json_object_put(result);
	return 0;
}

static json_object *one_param(const char *key, const char *value)
{
	json_object *params = json_object_new_object();

	json_object_object_add(params, key, json_object_new_string(value));
	return params;
}

static void print_nothing(json_object *result)
{
	(void)result;
}

/* The state of the controller of @name into @result: "enabled", "resetting" or "failed". */
static int controller_state(struct stactl *ctl, const char *name, char *state, size_t bytes)
{
	json_object *result = NULL, *list = NULL, *text = NULL;

	if (stactl_call(ctl, "bdev_nvme_get_controllers", one_param("name", name), &result))
		return -1;
	json_object_object_get_ex(json_object_array_get_idx(result, 0), "ctrlrs", &list);
	json_object_object_get_ex(json_object_array_get_idx(list, 0), "state", &text);
	snprintf(state, bytes, "%s", text ? json_object_get_string(text) : "");
	json_object_put(result);
	return state[0] ? 0
			: stactl_fail(ctl, "the target does not say what became of \"%s\"", name);
}

/* It goes on when the call has come back; here it is waited for. */
int stactl_drive_reset(struct stactl *ctl)
{
	const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
	const char *name = ctl->args[0];
	json_object *result = NULL;
	char state[32] = "resetting";
	time_t until;

	if (stactl_call(ctl, "bdev_nvme_reset_controller", one_param("name", name), &result))
		return -1;
	json_object_put(result);
	until = time(NULL) + RESET_TIMEOUT_S;
	while (!strcmp(state, "resetting") && time(NULL) < until) {
		nanosleep(&nap, NULL);
		if (controller_state(ctl, name, state, sizeof(state)))
			return -1;
	}
	if (strcmp(state, "enabled"))
		return stactl_fail(ctl, "\"%s\" is %s: the target's log says why", name,
				   strcmp(state, "failed") ? "being reset still" : "not up");
	if (ctl->is_json)
		puts("true");
	return 0;
}

/* ---- bdev list ---------------------------------------------------------------------------- */

/* What stands behind a disk: a file's name, or a drive's address. */
static json_object *source_of(json_object *bdev)
{
	json_object *specific = NULL, *of_kind = NULL, *name = NULL;

	json_object_object_get_ex(bdev, "driver_specific", &specific);
	if (json_object_object_get_ex(specific, "aio", &of_kind))
		json_object_object_get_ex(of_kind, "filename", &name);
	else if (json_object_object_get_ex(specific, "nvme", &of_kind))
		json_object_object_get_ex(json_object_array_get_idx(of_kind, 0), "pci_address",
					  &name);
	return json_object_get(name);
}

static void print_bdevs(json_object *bdevs)
{
	static const struct stactl_column columns[] = {
		{"NAME", "name"},	  {"KIND", "product_name"},
		{"BLOCKS", "num_blocks"}, {"BYTES/BLOCK", "block_size"},
		{"NAMESPACE", "claimed"}, {"SOURCE", "source"},
	};
	size_t i;

	for (i = 0; i < json_object_array_length(bdevs); i++) {
		json_object *bdev = json_object_array_get_idx(bdevs, i);

		json_object_object_add(bdev, "source", source_of(bdev));
	}
	stactl_print_table(bdevs, columns, UTIL_ARRAY_SIZE(columns));
}

int stactl_bdev_list(struct stactl *ctl)
{
	return show(ctl, "bdev_get_bdevs", NULL, print_bdevs);
}

/* ---- subsystem list ----------------------------------------------------------------------- */

static void print_listeners(json_object *ports)
{
	size_t i;

	for (i = 0; i < json_object_array_length(ports); i++) {
		json_object *port = json_object_array_get_idx(ports, i);
		bool is_v6 = !strcmp(stactl_text_of(port, "adrfam"), "IPv6");

		printf("  listens on  %s%s%s:%s%s\n", is_v6 ? "[" : "",
		       stactl_text_of(port, "traddr"), is_v6 ? "]" : "",
		       stactl_text_of(port, "trsvcid"),
		       !strcmp(stactl_text_of(port, "is_listening"), "no")
			       ? " (no interface has this address yet)"
			       : "");
	}
}

static void print_hosts(json_object *subsys, json_object *hosts)
{
	size_t i;

	if (!strcmp(stactl_text_of(subsys, "allow_any_host"), "yes"))
		puts("  host        any");
	else if (!json_object_array_length(hosts))
		puts("  host        none may connect");
	for (i = 0; i < json_object_array_length(hosts); i++)
		printf("  host        %s\n",
		       stactl_text_of(json_object_array_get_idx(hosts, i), "nqn"));
}

static void print_subsystem(json_object *subsys)
{
	json_object *list = NULL;
	size_t i;

	printf("%s\n", stactl_text_of(subsys, "nqn"));
	if (json_object_object_get_ex(subsys, "listen_addresses", &list))
		print_listeners(list);
	if (json_object_object_get_ex(subsys, "hosts", &list))
		print_hosts(subsys, list);
	if (!json_object_object_get_ex(subsys, "namespaces", &list))
		return;
	for (i = 0; i < json_object_array_length(list); i++) {
		json_object *ns = json_object_array_get_idx(list, i);

		printf("  namespace   %s: %s, uuid %s\n", stactl_text_of(ns, "nsid"),
		       stactl_text_of(ns, "bdev_name"), stactl_text_of(ns, "uuid"));
	}
}

static void print_subsystems(json_object *subsystems)
{
	size_t i;

	for (i = 0; i < json_object_array_length(subsystems); i++)
		print_subsystem(json_object_array_get_idx(subsystems, i));
}

int stactl_subsystem_list(struct stactl *ctl)
{
	return show(ctl, "nvmf_get_subsystems", NULL, print_subsystems);
}

/* ---- stats -------------------------------------------------------------------------------- */

static void print_counters(json_object *object)
{
	json_object *counters = NULL;

	json_object_object_get_ex(object, "counters", &counters);
	json_object_object_foreach(counters, name, value)
		printf("  %-20s %s\n", name, json_object_get_string(value));
}

static void print_stats(json_object *stats)
{
	json_object *list = NULL, *o;
	size_t i;

	if (json_object_object_get_ex(stats, "eus", &list))
		for (i = 0; i < json_object_array_length(list); i++) {
			o = json_object_array_get_idx(list, i);
			printf("execution unit %s (%s, %s connections)\n",
			       stactl_text_of(o, "name"), stactl_text_of(o, "state"),
			       stactl_text_of(o, "queue_pairs"));
			print_counters(o);
		}
	if (json_object_object_get_ex(stats, "queues", &list))
		for (i = 0; i < json_object_array_length(list); i++) {
			o = json_object_array_get_idx(list, i);
			printf("queue %s of %s\n", stactl_text_of(o, "queue"),
			       stactl_text_of(o, "bdev"));
			print_counters(o);
		}
	if (json_object_object_get_ex(stats, "namespaces", &list))
		for (i = 0; i < json_object_array_length(list); i++) {
			o = json_object_array_get_idx(list, i);
			printf("namespace %s of %s\n", stactl_text_of(o, "nsid"),
			       stactl_text_of(o, "nqn"));
			print_counters(o);
		}
}

int stactl_stats(struct stactl *ctl)
{
	return show(ctl, "sta_get_stats", ctl->kind ? one_param("kind", ctl->kind) : NULL,
		    print_stats);
}

/* ---- log, rpc ----------------------------------------------------------------------------- */

static void print_text(json_object *result)
{
	puts(result ? json_object_get_string(result) : "null");
}

static int show_levels(struct stactl *ctl)
{
	static const char *const worlds[] = {"app", "sdk"};
	json_object *levels = json_object_new_object(), *level = NULL;
	size_t i;
	int rc = 0;

	for (i = 0; i < UTIL_ARRAY_SIZE(worlds) && !rc; i++) {
		if (ctl->world && strcmp(ctl->world, worlds[i]))
			continue;
		rc = stactl_call(ctl, "log_get_level", one_param("world", worlds[i]), &level);
		if (!rc)
			json_object_object_add(levels, worlds[i], level);
	}
	if (!rc && ctl->is_json)
		stactl_print_json(levels);
	json_object_object_foreach(levels, world, value) if (!rc && !ctl->is_json)
		printf("%s %s\n", world, json_object_get_string(value));
	json_object_put(levels);
	return rc;
}

int stactl_log(struct stactl *ctl)
{
	json_object *params;

	if (!ctl->n_args)
		return show_levels(ctl);
	params = one_param("level", ctl->args[0]);
	if (ctl->world)
		json_object_object_add(params, "world", json_object_new_string(ctl->world));
	return show(ctl, "log_set_level", params, print_nothing);
}

int stactl_rpc(struct stactl *ctl)
{
	json_object *params = NULL;

	if (ctl->n_args > 1) {
		params = json_tokener_parse(ctl->args[1]);
		if (!json_object_is_type(params, json_type_object)) {
			json_object_put(params);
			return stactl_fail(ctl, "the parameters are no JSON object: %.200s",
					   ctl->args[1]);
		}
	}
	ctl->is_json = true;
	return show(ctl, ctl->args[0], params, print_text);
}
