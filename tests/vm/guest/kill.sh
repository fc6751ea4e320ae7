# SPDX-License-Identifier: Apache-2.0
# kill.sh ADDR NQN - the target dies during I/O and comes back: the host must
# reconnect by itself, and what was flushed before must be there.
# shellcheck shell=bash
. /job/lib.sh
addr=$1 nqn=$2 dev=/dev/nvme0n1

flushed() {
	dd if=/dev/urandom of=/job/flushed bs=1M count=16 2>/dev/null &&
		dd if=/job/flushed of=$dev bs=1M oflag=direct conv=fsync 2>/dev/null
}
load() {
	fio --name=load --filename=$dev --rw=randwrite --bs=16k --iodepth=16 --offset=32m --size=64m \
		--ioengine=libaio --direct=1 --time_based --runtime=120 --output=/job/fio.txt
}
is_live() { [ "$(cat /sys/class/nvme/nvme0/state)" = live ]; }
is_not_live() { ! is_live; }
check() { dd if=$dev bs=1M count=16 iflag=direct 2>/dev/null | cmp - /job/flushed; }
write_again() { dd if=/job/flushed of=$dev bs=1M seek=100 oflag=direct conv=fsync 2>/dev/null; }

run connect connect "$addr" "$nqn" --keep-alive-tmo=5 --reconnect-delay=2 --ctrl-loss-tmo=600
run 'write and flush' flushed
load &
sleep 2
run 'ask for the kill' mark kill-me
run 'notice the death' within 60 is_not_live
run 'ask for the restart' mark restart-me
run 'reconnect' within 150 is_live
kill %1 2>/dev/null
wait
run 'what was flushed is there' check
run 'write again' write_again
run disconnect nvme disconnect -n "$nqn"
