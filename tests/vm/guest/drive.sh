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
# Binding by hand, to prove the driver alone.
bind() {
	local d=/sys/bus/pci/devices/$1
	echo vfio-pci >"$d/driver_override" || return
	[ ! -e "$d/driver" ] || echo "$1" >"$d/driver/unbind" || return
	echo "$1" >/sys/bus/pci/drivers_probe && [ -e "$d/driver" ]
}
dmar_faults() { dmesg | grep -c 'DMAR:.*fault'; }

drives >/tmp/drives
mapfile -t all </tmp/drives
run 'three controllers' test ${#all[@]} = 3
run modules modprobe -a nvme vfio-pci vfio_iommu_type1
run 'refused while the kernel has it' /job/drive_test refused "${all[0]}"
for d in "${all[@]}"; do run "bind $d" bind "$d"; done
run 'memory limit' setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \
	/job/drive_test locked "${all[0]}"
run 'I/O on all' /job/drive_test io "${all[@]}"
run 'no DMA went astray' test "$(dmar_faults)" = 0
run 'addresses not mapped' /job/drive_test astray "${all[0]}"
run 'the IOMMU saw it' test "$(dmar_faults)" -gt 0
