/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document as text: a key and a value a line, those of a device further in than its PCI
 * address.
 */
#include "caps.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KEY_WIDTH 28

/* The text of a field, "-" for null. */
static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *field = NULL;

	json_object_object_get_ex(object, key, &field);
	return field ? json_object_get_string(field) : "-";
}

static void print_line(const char *key, const char *value)
{
	printf("    %-*s %s\n", KEY_WIDTH, key, value);
}

static void print_gids(struct json_object *gids)
{
	for (size_t i = 0; i < json_object_array_length(gids); i++) {
		struct json_object *gid = json_object_array_get_idx(gids, i);
		char key[32];

		snprintf(key, sizeof(key), "GID[%s]", text_of(gid, "index"));
		printf("    %-*s %s (%s)\n", KEY_WIDTH, key, text_of(gid, "gid"),
		       text_of(gid, "type"));
	}
}

static void print_support(struct json_object *support)
{
	struct json_object *is_supported = json_object_object_get(support, "is_supported");

	if (json_object_get_boolean(is_supported))
		print_line("sta", "supported");
	else
		printf("    %-*s no, %s: %s\n", KEY_WIDTH, "sta", text_of(support, "error"),
		       text_of(support, "reason"));
}

static void print_device(struct json_object *device)
{
	printf("PCI: %s\n", text_of(device, "pci_addr"));
	json_object_object_foreach(device, key, value)
	{
		if (!strcmp(key, "gids") && value)
			print_gids(value);
		else if (!strcmp(key, "sta"))
			print_support(value);
		else if (strcmp(key, "pci_addr") != 0)
			print_line(key, text_of(device, key));
	}
}

static void print_devices(struct json_object *devices)
{
	if (!json_object_array_length(devices))
		puts("no RDMA device on this machine, see softroce(7)");
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		print_device(json_object_array_get_idx(devices, i));
}

static void print_caps(struct json_object *caps)
{
	struct json_object *values = json_object_object_get(caps, "capabilities");

	printf("%s\n", text_of(caps, "ibdev_name"));
	print_support(json_object_object_get(caps, "sta"));
	json_object_object_foreach(values, key, limit)
	{
		bool is_known = json_object_object_get(limit, "value");

		printf("    %-*s %s %s\n", KEY_WIDTH, key, text_of(limit, "value"),
		       text_of(limit, is_known ? "unit" : "error"));
	}
}

static void print_version(struct json_object *version)
{
	printf("doca_caps %s\n", text_of(version, "softsta"));
	print_line("runtime", text_of(version, "runtime"));
	print_line("headers", text_of(version, "headers"));
}

void caps_print_text(struct json_object *document)
{
	json_object_object_foreach(document, key, value)
	{
		if (!strcmp(key, "version"))
			print_version(value);
		else if (!strcmp(key, "devices"))
			print_devices(value);
		else if (!strcmp(key, "caps"))
			print_caps(value);
	}
}
