/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that the command line names: DEVICE[,ARGUMENTS], or DEVICE,REPRESENTOR[,ARGUMENTS]. A
 * device is pci/ADDRESS, ibdev/NAME, iface/NAME, or one of the three without what is before the
 * slash. A representor is named by its PCI address, VUID or interface.
 */
#include "argp/argp.h"

#include <stdlib.h>
#include <string.h>

/* Cuts text at the first comma; what is behind it, or NULL. */
static char *cut(char *text)
{
	char *comma = strchr(text, ',');

	if (!comma)
		return NULL;
	*comma = '\0';
	return comma + 1;
}

static bool has_pci_addr(const struct doca_devinfo *devinfo, const char *name)
{
	uint8_t is_equal = 0;

	/* What is no address at all is an error there, and not equal here. */
	return doca_devinfo_is_equal_pci_addr(devinfo, name, &is_equal) == DOCA_SUCCESS && is_equal;
}

static bool has_ibdev_name(const struct doca_devinfo *devinfo, const char *name)
{
	char own[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	return doca_devinfo_get_ibdev_name(devinfo, own, sizeof(own)) == DOCA_SUCCESS &&
	       !strcmp(own, name);
}

static bool has_iface_name(const struct doca_devinfo *devinfo, const char *name)
{
	char own[DOCA_DEVINFO_IFACE_NAME_SIZE];

	return doca_devinfo_get_iface_name(devinfo, own, sizeof(own)) == DOCA_SUCCESS &&
	       !strcmp(own, name);
}

static bool is_device(const struct doca_devinfo *devinfo, const char *name)
{
	static const struct {
		const char *prefix;
		bool (*has)(const struct doca_devinfo *devinfo, const char *name);
	} kinds[] = {
		{"pci/", has_pci_addr},
		{"ibdev/", has_ibdev_name},
		{"iface/", has_iface_name},
	};
	const size_t n = sizeof(kinds) / sizeof(kinds[0]);

	for (size_t i = 0; i < n; i++) {
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].has(devinfo, name + strlen(kinds[i].prefix));
	}
	for (size_t i = 0; i < n; i++) {
		if (kinds[i].has(devinfo, name))
			return true;
	}
	return false;
}

static doca_error_t open_one(struct doca_devinfo *devinfo, const char *label, const char *name,
			     struct doca_dev **dev)
{
	doca_error_t result;

	if (argp_ctx->dev_open)
		result = argp_ctx->dev_open(devinfo, argp_ctx->dev_open_ctx, dev);
	else
		result = doca_dev_open(devinfo, dev);
	if (result != DOCA_SUCCESS)
		argp_say("%s: device %.100s cannot be opened: %s", label, name,
			 doca_error_get_descr(result));
	return result;
}

static doca_error_t open_device(const char *label, const char *name, struct doca_dev **dev)
{
	struct doca_devinfo **list = NULL;
	uint32_t n = 0, i = 0;
	doca_error_t result = doca_devinfo_create_list(&list, &n);

	if (result == DOCA_ERROR_NO_MEMORY)
		return argp_no_memory();
	while (i < n && !is_device(list[i], name))
		i++;
	if (i < n) {
		result = open_one(list[i], label, name, dev);
	} else {
		argp_say("%s: there is no device %.100s", label, name);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (list)
		doca_devinfo_destroy_list(list);
	return result;
}

static bool is_rep(const struct doca_devinfo_rep *rep, const char *name)
{
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t is_equal = 0;

	if (doca_devinfo_rep_is_equal_pci_addr(rep, name, &is_equal) == DOCA_SUCCESS && is_equal)
		return true;
	if (doca_devinfo_rep_get_vuid(rep, vuid, sizeof(vuid)) == DOCA_SUCCESS &&
	    !strcmp(vuid, name))
		return true;
	return doca_devinfo_rep_get_iface_name(rep, iface, sizeof(iface)) == DOCA_SUCCESS &&
	       !strcmp(iface, name);
}

static doca_error_t open_rep(struct doca_dev *dev, const char *label, const char *name,
			     struct doca_dev_rep **rep)
{
	struct doca_devinfo_rep **list = NULL;
	uint32_t n = 0, i = 0;
	doca_error_t result;

	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n);
	if (result != DOCA_SUCCESS) {
		argp_say("%s: the device lists no representors: %s", label,
			 doca_error_get_descr(result));
		return result;
	}
	while (i < n && !is_rep(list[i], name))
		i++;
	if (i == n) {
		argp_say("%s: the device has no representor %.100s", label, name);
		result = DOCA_ERROR_INVALID_VALUE;
	} else {
		result = doca_dev_rep_open(list[i], rep);
		if (result != DOCA_SUCCESS)
			argp_say("%s: representor %.100s cannot be opened: %s", label, name,
				 doca_error_get_descr(result));
	}
	doca_devinfo_rep_destroy_list(list);
	return result;
}

doca_error_t argp_device_open(struct argp_value *value)
{
	/* value.c has seen that the names are there. */
	struct doca_argp_device_rep_ctx *with_rep = &value->device_rep;
	char label[ARGP_LABEL_BYTES];
	char *behind = cut(value->text);
	doca_error_t result;

	argp_param_label(value->param, label);
	if (value->param->type == DOCA_ARGP_TYPE_DEVICE) {
		value->device.devargs = behind;
		return open_device(label, value->text, &value->device.dev);
	}
	with_rep->dev_ctx.devargs = cut(behind);
	result = open_device(label, value->text, &with_rep->dev_ctx.dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_rep(with_rep->dev_ctx.dev, label, behind, &with_rep->dev_rep);
	if (result != DOCA_SUCCESS)
		(void)doca_dev_close(with_rep->dev_ctx.dev);
	return result;
}

void argp_device_close(struct argp_value *value)
{
	if (value->param->type == DOCA_ARGP_TYPE_DEVICE_REP) {
		(void)doca_dev_rep_close(value->device_rep.dev_rep);
		(void)doca_dev_close(value->device_rep.dev_ctx.dev);
	} else {
		(void)doca_dev_close(value->device.dev);
	}
}
