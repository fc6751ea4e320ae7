# SPDX-License-Identifier: Apache-2.0
# plug_host.sh ADDR NQN - a host that writes to two drives while one of them is reset and then
# unplugged: resets go unnoticed, the unplugged one disappears, the other never fails.
# shellcheck shell=bash
. /job/lib.sh
addr=$1 nqn=$2

# load N SECONDS: write with verification to namespace N, from both processors.
load() {
	fio --name="load$1" --filename="/dev/nvme0n$1" --rw=randwrite --bs=16k --iodepth=8 --size=2m \
		--numjobs=2 --offset_increment=2m --cpus_allowed=0,1 --cpus_allowed_policy=split \
		--ioengine=libaio --direct=1 --verify=crc32c --verify_fatal=1 --time_based \
		--runtime="$2" --thread --group_reporting --output="/job/fio$1.txt"
	local rc=$?
	grep -E 'write:|err=' "/job/fio$1.txt"
	return $rc
}
no_io_error() { ! dmesg | grep 'I/O error'; }
is_gone() { [ ! -b /dev/nvme0n1 ]; }
is_back() { [ -b /dev/nvme0n1 ]; }
write_again() {
	dd if=/dev/urandom of=/job/last bs=64k count=4 2>/dev/null &&
		dd if=/job/last of=/dev/nvme0n1 bs=64k seek=16 oflag=direct conv=fsync 2>/dev/null &&
		dd if=/dev/nvme0n1 of=/tmp/back bs=64k skip=16 count=4 iflag=direct 2>/dev/null &&
		same /job/last /tmp/back
}

run 'wait for the target' await go 150
run connect connect "$addr" "$nqn"
run 'two namespaces' within 10 test -b /dev/nvme0n2
load 1 20 &
first=$!
load 2 45 &
second=$!
sleep 3
mark loaded
run 'the drive was reset' wait $first
run 'without an error' no_io_error
mark unplug
run 'the drive is gone' within 60 is_gone
run 'the other went on' wait $second
mark plug
run 'the drive is back' within 90 is_back
run 'write and read' write_again
run disconnect nvme disconnect -n "$nqn"
