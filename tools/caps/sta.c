/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libdoca_sta can do: every limit that doca_sta.h tells. Some are those of a doca_sta, so one
 * is made on the device and destroyed again; it is never started.
 */
#include "caps.h"

#include <doca_sta.h>
#include <stdio.h>

struct limit {
	const char *name; /* the function, without doca_sta_get_ */
	const char *unit;
	doca_error_t (*get)(uint32_t *value);
	doca_error_t (*get_of)(const struct doca_sta *sta, uint32_t *value);
};

static doca_error_t get_max_sta_io(const struct doca_sta *sta, uint32_t *value)
{
	uint16_t contexts = 0;
	doca_error_t result = doca_sta_get_max_sta_io(sta, &contexts);

	*value = contexts;
	return result;
}

/* clang-format off: a line each */
static const struct limit limits[] = {
	{"max_devs", "devices", doca_sta_get_max_devs, NULL},
	{"max_num_eus_available", "execution units", NULL, doca_sta_get_max_num_eus_available},
	{"max_num_connected_qp_per_eu", "connections", NULL,
	 doca_sta_get_max_num_connected_qp_per_eu},
	{"max_qps", "connections", doca_sta_get_max_qps, NULL},
	{"max_io_threads", "I/O contexts", doca_sta_get_max_io_threads, NULL},
	{"max_sta_io", "I/O contexts", NULL, get_max_sta_io},
	{"max_subsys", "subsystems", doca_sta_get_max_subsys, NULL},
	{"max_ns_per_subs", "namespaces", doca_sta_get_max_ns_per_subs, NULL},
	{"max_be", "back-ends", doca_sta_get_max_be, NULL},
	{"max_qs_per_be", "queue pairs", doca_sta_get_max_qs_per_be, NULL},
	{"max_io_size", "bytes", doca_sta_get_max_io_size, NULL},
	{"max_io_num_per_dev", "commands", NULL, doca_sta_get_max_io_num_per_dev},
	{"max_io_queue_size", "entries", NULL, doca_sta_get_max_io_queue_size},
	{"min_ioccsz", "bytes", doca_sta_get_min_ioccsz, NULL},
	{"max_ioccsz", "bytes", doca_sta_get_max_ioccsz, NULL},
	{"min_iorcsz", "bytes", doca_sta_get_min_iorcsz, NULL},
	{"max_iorcsz", "bytes", doca_sta_get_max_iorcsz, NULL},
	{"max_icdoff", "bytes", doca_sta_get_max_icdoff, NULL},
};
/* clang-format on */

static struct json_object *error_name(doca_error_t error)
{
	return json_object_new_string(doca_error_get_name(error));
}

/* The API says no more than "not supported". That a device cannot be opened is seen by opening it.
 */
static struct json_object *why_not(struct doca_devinfo *devinfo)
{
	struct doca_dev *dev;
	doca_error_t opened = doca_dev_open(devinfo, &dev);
	char text[256];

	if (opened == DOCA_SUCCESS) {
		(void)doca_dev_close(dev);
		return json_object_new_string("it does not answer, or lacks the reliable"
					      " connections, queue depth, scatter-gather entries"
					      " or RDMA reads that STA needs");
	}
	snprintf(text, sizeof(text), "it cannot be opened (%s: %s)", doca_error_get_name(opened),
		 doca_error_get_descr(opened));
	return json_object_new_string(text);
}

struct json_object *caps_sta_support(struct doca_devinfo *devinfo)
{
	struct json_object *support = json_object_new_object();
	doca_error_t result = doca_sta_cap_is_supported(devinfo);
	bool is_supported = result == DOCA_SUCCESS;

	json_object_object_add(support, "is_supported", json_object_new_boolean(is_supported));
	json_object_object_add(support, "error", is_supported ? NULL : error_name(result));
	json_object_object_add(support, "reason", is_supported ? NULL : why_not(devinfo));
	return support;
}

/* @sta_error: why there is no @sta. */
static struct json_object *describe_limit(const struct limit *limit, const struct doca_sta *sta,
					  doca_error_t sta_error)
{
	struct json_object *object = json_object_new_object();
	doca_error_t result = sta_error;
	uint32_t value = 0;

	if (limit->get)
		result = limit->get(&value);
	else if (sta)
		result = limit->get_of(sta, &value);
	json_object_object_add(object, "value",
			       result == DOCA_SUCCESS ? json_object_new_int64(value) : NULL);
	json_object_object_add(object, "unit", json_object_new_string(limit->unit));
	json_object_object_add(object, "error", result == DOCA_SUCCESS ? NULL : error_name(result));
	return object;
}

struct json_object *caps_sta_describe(struct doca_devinfo *devinfo)
{
	struct json_object *object = json_object_new_object();
	struct json_object *values = json_object_new_object();
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "";
	struct doca_dev *dev = NULL;
	struct doca_sta *sta = NULL;
	doca_error_t result = doca_dev_open(devinfo, &dev);

	if (result == DOCA_SUCCESS)
		result = doca_sta_create(dev, &sta);
	(void)doca_devinfo_get_ibdev_name(devinfo, name, sizeof(name));
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		json_object_object_add(values, limits[i].name,
				       describe_limit(&limits[i], sta, result));
	if (sta)
		(void)doca_sta_destroy(sta);
	if (dev)
		(void)doca_dev_close(dev);
	json_object_object_add(object, "ibdev_name", json_object_new_string(name));
	json_object_object_add(object, "sta", caps_sta_support(devinfo));
	json_object_object_add(object, "capabilities", values);
	return object;
}
