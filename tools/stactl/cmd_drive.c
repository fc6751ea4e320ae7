/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives of this machine: list them, give one to vfio-pci, give it back. No drive is taken from
 * whoever uses it: what sysfs and /proc tell says who that is, and the exclusive open of its block
 * devices, which the kernel grants to one at a time, that nobody was overlooked. It is kept until
 * the drive is bound, so that nobody comes in between.
 */
#include "stactl.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drive.h"
#include "util/compiler.h"

#define VFIO	   "vfio-pci"
#define MAX_DRIVES 256
/* udev may change the new node's owner; and it may not be there at once. */
#define NODE_TRIES  50
#define NODE_NAP_MS 20

/* ---- list --------------------------------------------------------------------------------- */

static json_object *text_or_null(const char *text)
{
	return text[0] ? json_object_new_string(text) : NULL;
}

static json_object *number_or_null(int number)
{
	return number >= 0 ? json_object_new_int(number) : NULL;
}

static void add_device(json_object *o, const struct drive *d)
{
	char id[16];

	snprintf(id, sizeof(id), "%04x:%04x", d->pci.vendor, d->pci.device);
	json_object_object_add(o, "pci_address", json_object_new_string(d->pci.bdf));
	json_object_object_add(o, "pci_id", json_object_new_string(id));
	json_object_object_add(o, "model", text_or_null(d->model));
	json_object_object_add(o, "serial", text_or_null(d->serial));
	json_object_object_add(o, "driver", text_or_null(d->pci.driver));
	json_object_object_add(o, "iommu_group", number_or_null(d->pci.iommu_group));
	json_object_object_add(o, "numa_node", number_or_null(d->pci.numa_node));
}

static json_object *describe(const struct drive *d)
{
	json_object *o = json_object_new_object();
	json_object *blocks = json_object_new_array(), *uses = json_object_new_array();
	char why[512] = "";
	size_t i;

	add_device(o, d);
	for (i = 0; i < d->n_blocks; i++)
		json_object_array_add(blocks, json_object_new_string(d->blocks[i]));
	for (i = 0; i < d->uses.n; i++)
		json_object_array_add(uses, json_object_new_string(d->uses.list[i].text));
	json_object_object_add(o, "block_devices", blocks);
	json_object_object_add(o, "uses", uses);
	json_object_object_add(o, "is_bound",
			       json_object_new_boolean(!strcmp(d->pci.driver, VFIO)));
	json_object_object_add(o, "is_usable",
			       json_object_new_boolean(!drive_why_not(d, why, sizeof(why))));
	json_object_object_add(o, "reason", text_or_null(why));
	return o;
}

/* For the table: one word more than the JSON has, and lists on a line. */
static void add_cells(json_object *o)
{
	json_object *blocks = json_object_object_get(o, "block_devices");
	bool is_usable = json_object_get_boolean(json_object_object_get(o, "is_usable"));
	bool is_bound = json_object_get_boolean(json_object_object_get(o, "is_bound"));
	char state[600], names[256] = "";
	size_t i, used = 0;

	for (i = 0; i < json_object_array_length(blocks) && used < sizeof(names); i++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", used ? "," : "",
			json_object_get_string(json_object_array_get_idx(blocks, i)));
	snprintf(state, sizeof(state), "%s%s",
		 is_usable  ? is_bound ? "ready" : "free: stactl drive bind"
		 : is_bound ? ""
			    : "no: ",
		 is_usable ? "" : stactl_text_of(o, "reason"));
	json_object_object_add(o, "blocks", text_or_null(names));
	json_object_object_add(o, "state", json_object_new_string(state));
}

static void print_drives(json_object *drives)
{
	static const struct stactl_column columns[] = {
		{"ADDRESS", "pci_address"}, {"MODEL", "model"},	      {"SERIAL", "serial"},
		{"DRIVER", "driver"},	    {"IOMMU", "iommu_group"}, {"NUMA", "numa_node"},
		{"BLOCK", "blocks"},	    {"FOR SOFTSTA", "state"},
	};
	size_t i;

	if (!json_object_array_length(drives)) {
		puts("no NVMe drive on the PCI bus of this machine");
		return;
	}
	for (i = 0; i < json_object_array_length(drives); i++)
		add_cells(json_object_array_get_idx(drives, i));
	stactl_print_table(drives, columns, UTIL_ARRAY_SIZE(columns));
}

int stactl_drive_list(struct stactl *ctl)
{
	static struct nv_pci list[MAX_DRIVES];
	json_object *drives;
	struct nv_err err;
	int n = nv_pci_list(drive_sysfs(), list, MAX_DRIVES, &err), i;

	if (n < 0)
		return stactl_fail(ctl, "%s", err.text);
	drives = json_object_new_array();
	for (i = 0; i < n && i < MAX_DRIVES; i++) {
		struct drive d = {.pci = list[i]};

		drive_describe(&d);
		json_object_array_add(drives, describe(&d));
	}
	if (ctl->is_json)
		stactl_print_json(drives);
	else
		print_drives(drives);
	json_object_put(drives);
	return 0;
}

/* ---- which drive, and may it be taken? ---------------------------------------------------- */

static int find_drive(struct stactl *ctl, struct drive *d)
{
	struct nv_err err;

	memset(d, 0, sizeof(*d));
	if (nv_pci_read(drive_sysfs(), ctl->args[0], &d->pci, &err))
		return stactl_fail(ctl, "%s", err.text);
	if (d->pci.class_code != NV_PCI_CLASS_NVME)
		return stactl_fail(ctl, "%s: is no NVMe drive (PCI class %06x)", d->pci.bdf,
				   d->pci.class_code);
	drive_describe(d);
	return 0;
}

static int refuse_use(struct stactl *ctl, const struct drive *d)
{
	const struct machine_use *worst = machine_worst(&d->uses);

	if (!worst)
		return 0;
	switch (worst->kind) {
	case MACHINE_FREE:
		break;
	case MACHINE_OPEN:
		return ctl->is_forced ? 0
				      : stactl_fail(ctl, "%s: is in use: %s; --force takes it away",
						    d->pci.bdf, worst->text);
	case MACHINE_HELD:
		return stactl_fail(ctl, "%s: is in use: %s", d->pci.bdf, worst->text);
	case MACHINE_SWAP:
		return stactl_fail(ctl, "%s: is in use: %s; swapoff it first", d->pci.bdf,
				   worst->text);
	case MACHINE_MOUNTED:
		return stactl_fail(ctl, "%s: is in use: %s; unmount it first", d->pci.bdf,
				   worst->text);
	case MACHINE_ROOT:
		return stactl_fail(ctl,
				   "%s: THIS MACHINE RUNS FROM THIS DRIVE: %s; nothing can make"
				   " stactl take it",
				   d->pci.bdf, worst->text);
	}
	return 0;
}

/* Open the block devices exclusively: -EBUSY if somebody whom we do not see has one. */
static int claim(struct stactl *ctl, const struct drive *d, int fds[DRIVE_MAX_BLOCKS])
{
	char path[MACHINE_PATH];
	size_t i;

	for (i = 0; i < d->n_blocks; i++) {
		fds[i] = open(machine_path(path, "/dev/%s", d->blocks[i]),
			      O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);
		if (fds[i] >= 0)
			continue;
		if (errno == EBUSY)
			return stactl_fail(ctl,
					   "%s: the kernel says that /dev/%s is in use; perhaps it"
					   " is mounted in a container, or ZFS has it",
					   d->pci.bdf, d->blocks[i]);
		if (errno != ENOENT && errno != ENXIO)
			return stactl_fail(ctl, "/dev/%s: %s", d->blocks[i], strerror(errno));
	}
	return 0;
}

static void let_go(int fds[DRIVE_MAX_BLOCKS])
{
	size_t i;

	for (i = 0; i < DRIVE_MAX_BLOCKS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* ---- bind --------------------------------------------------------------------------------- */

static bool has_vfio(void)
{
	char path[MACHINE_PATH];

	return !access(machine_path(path, "/sys/bus/pci/drivers/" VFIO), F_OK);
}

static int load_vfio(struct stactl *ctl)
{
	int status = 0;
	pid_t pid;

	if (has_vfio())
		return 0;
	printf("loading the kernel module " VFIO "\n");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		execlp("modprobe", "modprobe", VFIO, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) || !has_vfio())
		return stactl_fail(ctl, "the kernel module " VFIO " cannot be loaded: see"
					" \"modprobe " VFIO "\"");
	return 0;
}

static int find_user(struct stactl *ctl, uid_t *uid, gid_t *gid)
{
	const struct passwd *user;

	if (!ctl->user)
		return 0;
	user = getpwnam(ctl->user);
	if (!user)
		return stactl_fail(ctl, "there is no user \"%.60s\"", ctl->user);
	*uid = user->pw_uid;
	*gid = user->pw_gid;
	return 0;
}

static int give_to_user(struct stactl *ctl, const struct drive *d, uid_t uid, gid_t gid)
{
	const struct timespec nap = {.tv_nsec = NODE_NAP_MS * 1000000L};
	char path[MACHINE_PATH];
	int i;

	machine_path(path, "/dev/vfio/%d", d->pci.iommu_group);
	for (i = 0; i < NODE_TRIES && access(path, F_OK); i++)
		nanosleep(&nap, NULL);
	if (chown(path, uid, gid) || chmod(path, S_IRUSR | S_IWUSR))
		return stactl_fail(ctl, "%s: %s", path, strerror(errno));
	printf("%s belongs to %s now\n", path, ctl->user);
	return 0;
}

static int check_iommu(struct stactl *ctl, const struct drive *d)
{
	if (d->pci.iommu_group < 0)
		return stactl_fail(ctl,
				   "%s: this machine has no IOMMU, or it is off: switch it on in"
				   " the firmware, and in the kernel with intel_iommu=on on Intel",
				   d->pci.bdf);
	if (d->blocker[0])
		return stactl_fail(ctl,
				   "%s: %s is in the same IOMMU group %d and has to be bound to"
				   " " VFIO ", or to no driver, too",
				   d->pci.bdf, d->blocker, d->pci.iommu_group);
	return 0;
}

static int bind_it(struct stactl *ctl, const struct drive *d)
{
	int fds[DRIVE_MAX_BLOCKS], rc;
	struct nv_err err;
	size_t i;

	for (i = 0; i < DRIVE_MAX_BLOCKS; i++)
		fds[i] = -1;
	rc = claim(ctl, d, fds);
	if (!rc)
		rc = load_vfio(ctl);
	if (!rc && nv_pci_bind(drive_sysfs(), &d->pci, VFIO, &err))
		rc = stactl_fail(ctl, "%s", err.text);
	let_go(fds);
	if (!rc)
		printf("%s is bound to " VFIO " (it was %s), IOMMU group %d\n", d->pci.bdf,
		       d->pci.driver[0] ? d->pci.driver : "without a driver", d->pci.iommu_group);
	return rc;
}

int stactl_drive_bind(struct stactl *ctl)
{
	uid_t uid = 0;
	gid_t gid = 0;
	struct drive d;

	if (find_drive(ctl, &d) || find_user(ctl, &uid, &gid))
		return -1;
	if (!strcmp(d.pci.driver, VFIO))
		printf("%s is bound to " VFIO " already\n", d.pci.bdf);
	else if (refuse_use(ctl, &d) || check_iommu(ctl, &d) || bind_it(ctl, &d))
		return -1;
	return ctl->user ? give_to_user(ctl, &d, uid, gid) : 0;
}

/* ---- unbind ------------------------------------------------------------------------------- */

/* The kernel would wait for the program to end, for as long as it runs. */
static int check_group_is_free(struct stactl *ctl, const struct drive *d)
{
	char path[MACHINE_PATH];
	int fd;

	if (d->uses.n)
		return stactl_fail(ctl, "%s: is in use: %s", d->pci.bdf, d->uses.list[0].text);
	fd = open(machine_path(path, "/dev/vfio/%d", d->pci.iommu_group), O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		return stactl_fail(ctl, "%s: some program has it open", d->pci.bdf);
	if (fd >= 0)
		close(fd);
	return 0;
}

int stactl_drive_unbind(struct stactl *ctl)
{
	struct nv_pci now;
	struct nv_err err;
	struct drive d;

	if (find_drive(ctl, &d))
		return -1;
	if (d.pci.driver[0] && strcmp(d.pci.driver, VFIO)) {
		printf("%s is not bound to " VFIO ": its driver is %s\n", d.pci.bdf, d.pci.driver);
		return 0;
	}
	if (d.pci.driver[0] && check_group_is_free(ctl, &d))
		return -1;
	if (nv_pci_bind(drive_sysfs(), &d.pci, NULL, &err) ||
	    nv_pci_read(drive_sysfs(), d.pci.bdf, &now, &err))
		return stactl_fail(ctl, "%s", err.text);
	if (now.driver[0])
		printf("%s is the kernel's again, driver %s\n", d.pci.bdf, now.driver);
	else
		printf("%s has no driver now: the kernel has none for it loaded (modprobe nvme)\n",
		       d.pci.bdf);
	return 0;
}
