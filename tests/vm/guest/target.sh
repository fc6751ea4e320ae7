# SPDX-License-Identifier: Apache-2.0
# target.sh ARGS... - softsta-tgt in a guest, with ARGS and a --drive for each NVMe controller that
# the guest has. Says `ready` when it listens, ends it when it finds `stop`.
# In /job: softsta-tgt and its libraries as they were installed; `verbs` says `rxe` or `soft`.
# shellcheck shell=bash
. /job/lib.sh
export LD_LIBRARY_PATH=/job SOFTSTA_EUS=2
log=/job/target.log

bind() {
	local d=/sys/bus/pci/devices/$1
	echo vfio-pci >"$d/driver_override" && echo "$1" >"$d/driver/unbind" &&
		echo "$1" >/sys/bus/pci/drivers_probe && [ -e "$d/driver" ]
}
# What the kernel's driver reads of the namespaces, for the test to compare with what hosts read.
note_namespaces() {
	local dev n=0
	for dev in "/sys/bus/pci/devices/$1"/nvme/nvme*/nvme*n*; do
		n=$((n + 1))
		nvme id-ns "/dev/${dev##*/}" >"/job/id-ns.$((count + n))" || return
	done
	count=$((count + n))
}
listens() { grep -q 'listening on' $log || ! kill -0 "$pid" 2>/dev/null; }

drives=() count=0
for d in /sys/bus/pci/devices/*; do
	[ "$(cat "$d/class")" = 0x010802 ] || continue
	d=${d##*/}
	[ ${#drives[@]} -gt 0 ] || run modules modprobe -a nvme vfio-pci vfio_iommu_type1
	run 'namespaces' within 10 note_namespaces "$d"
	run "bind $d" bind "$d"
	drives+=(--drive "$d")
done
# With soft RoCE nothing of the kernel's RDMA is there.
[ "$(cat /job/verbs)" = rxe ] || run 'no RDMA device of the kernel' test ! -e /sys/class/infiniband/rxe0
/job/softsta-tgt "$@" "${drives[@]}" >$log 2>&1 &
pid=$!
within 30 listens
run 'target' grep 'listening on' $log
mark ready
await stop 400
kill -TERM $pid
wait $pid
rc=$?
cat $log
run 'target ended well' test $rc = 0
run 'no DMA went astray' test "$(dmesg | grep -c 'DMAR:.*fault')" = 0
