# SPDX-License-Identifier: Apache-2.0
# admin.sh ADDR NQN - an administrator's day: find the disk, look at it, put a
# file system on it, write, read back, load it, let go, come back.
# shellcheck shell=bash
. /job/lib.sh
addr=$1 nqn=$2 dev=/dev/nvme0n1

discover() {
	nvme discover -t rdma -a "$addr" -s "$PORT" | tee /tmp/discovery
	grep -q "subnqn: *$nqn\$" /tmp/discovery && grep -q "traddr: *$addr\$" /tmp/discovery
}
list() { nvme list | tee /tmp/list && grep -q "^$dev " /tmp/list; }
id_ctrl() { nvme id-ctrl /dev/nvme0 | tee /tmp/id && grep -q '^mdts *: 8$' /tmp/id; }
id_ns() {
	nvme id-ns $dev | tee /tmp/ns && grep -q '^nguid *: [0-9a-f]*$' /tmp/ns &&
		! grep -q '^nguid *: 0*$' /tmp/ns
}
logs() {
	nvme smart-log /dev/nvme0 >/tmp/log && nvme error-log /dev/nvme0 -e 4 >/tmp/log &&
		nvme effects-log /dev/nvme0 >/tmp/log && nvme fw-log /dev/nvme0 >/tmp/log &&
		nvme changed-ns-list-log /dev/nvme0 >/tmp/log
}
features() { for f in 7 0xb 0xf; do nvme get-feature /dev/nvme0 -f $f || return; done; }
# It ends where fio begins.
make_fs() { mkfs.ext4 -q -F $dev 128m && mount -t ext4 $dev /mnt; }
copy() {
	dd if=/dev/urandom of=/job/file bs=1M count=24 2>/dev/null &&
		cp /job/file /mnt/file && sync && umount /mnt
}
check() {
	mount -t ext4 -o ro $dev /mnt && same /mnt/file /job/file
	local rc=$?
	umount /mnt
	return $rc
}
fio_verify() {
	fio --name=verify --filename=$dev --rw=randwrite --bsrange=512-1m --bs_unaligned=0 \
		--iodepth=32 --numjobs=2 --offset=128m --size=24m --offset_increment=24m \
		--ioengine=libaio --direct=1 --verify=crc32c --verify_fatal=1 --group_reporting \
		--output=/job/fio.txt
	local rc=$?
	grep -E 'read:|write:|err=' /job/fio.txt
	return $rc
}

run 'load modules' modprobe -a nvme-rdma
run discover discover
run connect connect "$addr" "$nqn"
run list list
run id-ctrl id_ctrl
run id-ns id_ns
run 'log pages' logs
run features features
run 'mkfs, mount' make_fs
run 'copy, umount' copy
run 'checksum' check
mark fio-ready
run 'wait for the other host' await fio-go 300
run 'fio verify' fio_verify
run 'sum of what it wrote' sum_of_range $dev 128 48 /job/fio.sum
run disconnect nvme disconnect -n "$nqn"
run 'connect again' connect "$addr" "$nqn"
run 'checksum again' check
run 'disconnect again' nvme disconnect -n "$nqn"
run 'kernel log' kernel_log_is_clean
