# SPDX-License-Identifier: Apache-2.0
# disks.sh ADDR NQN COUNT - a host that writes to every namespace, with verification, and leaves a
# sum of each.
# shellcheck shell=bash
. /job/lib.sh
addr=$1 nqn=$2 count=$3

appear() { for n in $(seq "$count"); do [ -b "/dev/nvme0n$n" ] || return; done; }
fio_all() {
	local n args=()
	for n in $(seq "$count"); do args+=("--name=d$n" "--filename=/dev/nvme0n$n"); done
	fio --rw=randwrite --bsrange=4k-512k --iodepth=16 --size=4m --ioengine=libaio --direct=1 \
		--verify=crc32c --verify_fatal=1 --end_fsync=1 --group_reporting \
		--output=/job/fio.txt "${args[@]}"
	local rc=$?
	grep -E 'read:|write:|err=' /job/fio.txt
	return $rc
}
# The last block, and what lies before and behind it.
ends() {
	local n dev size
	for n in $(seq "$count"); do
		dev=/dev/nvme0n$n
		size=$(blockdev --getsize64 $dev)
		yes "end of $n" | head -c 8192 >/tmp/end
		dd if=/tmp/end of=$dev bs=4096 seek=$((size / 4096 - 2)) oflag=direct conv=fsync 2>/dev/null || return
		dd if=$dev bs=4096 skip=$((size / 4096 - 2)) iflag=direct 2>/dev/null | cmp - /tmp/end || return
		! dd if=/tmp/end of=$dev bs=4096 seek=$((size / 4096)) oflag=direct 2>/dev/null || return
	done
}

run 'load modules' modprobe -a nvme-rdma
run 'wait for the target' await go 150
run connect connect "$addr" "$nqn"
run "$count namespaces" within 10 appear
for n in $(seq "$count"); do
	nvme id-ns "/dev/nvme0n$n" >"/job/id-ns.$n"
	cat "/sys/block/nvme0n$n/queue/"{logical_block_size,physical_block_size,write_cache} | xargs
done
nvme id-ctrl /dev/nvme0 >/job/id-ctrl
run 'fio verify on all' fio_all
run 'the ends' ends
for n in $(seq "$count"); do
	run "sum of $n" sum_of_range "/dev/nvme0n$n" 0 4 "/job/sum.$n"
done
run disconnect nvme disconnect -n "$nqn"
