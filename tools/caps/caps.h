/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of doca_caps. What it finds out is collected as one JSON document, whose keys are those
 * of doca_caps(1); the text is printed from the same document, so that the two cannot differ.
 */
#ifndef CAPS_H
#define CAPS_H

#include <doca_dev.h>
#include <doca_error.h>
#include <json-c/json.h>
#include <stdint.h>

/* Why nothing could be found out. */
struct caps_error {
	doca_error_t code;
	char text[1024];
};

/* The devices of this machine; none is no error. To be freed with caps_devs_put(). */
struct caps_devs {
	struct doca_devinfo **list;
	uint32_t count;
};

/* 0, or -1 with the reason in @error. */
int caps_devs_get(struct caps_devs *devs, struct caps_error *error);
void caps_devs_put(struct caps_devs *devs);

/*
 * The device that @name means: its ibdev name, its network interface or its PCI address. NULL with
 * the reason in @error: there is none, or an interface has more than one.
 */
struct doca_devinfo *caps_devs_find(const struct caps_devs *devs, const char *name,
				    struct caps_error *error);

/* What is known of a device, an object. */
struct json_object *caps_devinfo_describe(struct doca_devinfo *devinfo);

/* Whether a device can be the control device of a doca_sta, and why not; an object. */
struct json_object *caps_sta_support(struct doca_devinfo *devinfo);

/* What libdoca_sta can do with a device, an object. */
struct json_object *caps_sta_describe(struct doca_devinfo *devinfo);

/* Print the document as text. */
void caps_print_text(struct json_object *document);

#endif /* CAPS_H */
