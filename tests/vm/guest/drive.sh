# SPDX-License-Identifier: Apache-2.0
# drive.sh - the driver on the guest's NVMe controllers (drive_test.c), through VFIO.
# shellcheck shell=bash
. /job/lib.sh

drives() {
	local d
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/class")" != 0x010802 ] || basename "$d"
	done
}
driver_of() { basename "$(readlink -f "/sys/bus/pci/devices/$1/driver")"; }
# The block device of a drive's first namespace, also when the kernel does multipath.
block_of() {
	local d=("/sys/bus/pci/devices/$1"/nvme/nvme*/nvme*n1)
	basename "${d[0]}" | sed 's/c[0-9]*n/n/'
}
# stactl refuses to bind it, says TEXT and leaves it alone.
refused() { # DRIVE TEXT OPTION...
	local status=0
	/job/stactl drive bind "$1" "${@:3}" >/tmp/refused 2>&1 || status=$?
	cat /tmp/refused
	[ $status = 1 ] && grep -qF -- "$2" /tmp/refused && [ "$(driver_of "$1")" = nvme ]
}
bind() {
	/job/stactl drive bind "$1" && [ "$(driver_of "$1")" = vfio-pci ] &&
		/job/stactl drive list | grep "$1.* ready$"
}
unbind() { /job/stactl drive unbind "$1" && [ "$(driver_of "$1")" = nvme ] && within 20 has_block "$1"; }
has_block() { [ -b "/dev/$(block_of "$1")" ]; }
mount_it() { mkfs.ext4 -q -F "/dev/$1" && mount -t ext4 "/dev/$1" /mnt; }
# In a mount namespace of its own, as a container's: /proc/self/mountinfo does not have it.
mount_unseen() {
	busybox unshare -m sh -c "mount --make-rprivate / && mount -t ext4 /dev/$1 /mnt &&
		echo >/tmp/mounted && until [ -e /tmp/enough ]; do sleep 1; done" &
	within 20 test -e /tmp/mounted && ! grep -q "/dev/$1" /proc/self/mountinfo
}
make_swap() { busybox mkswap "/dev/$1" && busybox swapon "/dev/$1"; }
dmar_faults() { dmesg | grep -c 'DMAR:.*fault'; }

drives >/tmp/drives
mapfile -t all </tmp/drives
run 'three controllers' test ${#all[@]} = 3
run modules modprobe -a nvme vfio_iommu_type1 ext4
for d in "${all[@]}"; do run "the kernel has $d" within 20 has_block "$d"; done
run 'refused while the kernel has it' /job/drive_test refused "${all[0]}"
disk=$(block_of "${all[0]}")
run "mount /dev/$disk" mount_it "$disk"
run 'refused while it is mounted' refused "${all[0]}" "/dev/$disk is mounted at /mnt"
run 'and not to be forced' refused "${all[0]}" "/dev/$disk is mounted at /mnt" --force
run unmount umount /mnt
run 'mount it where nobody sees it' mount_unseen "$disk"
run 'refused all the same' refused "${all[0]}" "the kernel says that /dev/$disk is in use" --force
run 'end of that' touch /tmp/enough
run 'swap on it' within 20 make_swap "$disk"
run 'refused while it is swap' refused "${all[0]}" "/dev/$disk is swap space" --force
run 'no swap' busybox swapoff "/dev/$disk"
exec 7<"/dev/$disk"
run 'refused while a program has it' refused "${all[0]}" "/dev/$disk is open in"
exec 7<&-
# stactl loads vfio-pci with the first of them.
for d in "${all[@]}"; do run "bind $d" bind "$d"; done
run 'give one back' unbind "${all[0]}"
run 'and take it again' bind "${all[0]}"
run 'memory limit' setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \
	/job/drive_test locked "${all[0]}"
run 'I/O on all' /job/drive_test io "${all[@]}"
run 'no DMA went astray' test "$(dmar_faults)" = 0
run 'addresses not mapped' /job/drive_test astray "${all[0]}"
run 'the IOMMU saw it' test "$(dmar_faults)" -gt 0
