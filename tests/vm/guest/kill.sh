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
# One process, the shell's own child.
load() {
	exec fio --name=load --filename=$dev --rw=randwrite --bs=16k --iodepth=16 --offset=32m \
		--size=64m --ioengine=libaio --direct=1 --time_based --runtime=600 --thread \
		--output=/job/fio.txt
}
# With multipath the disk behind the visible one may be the one that counts.
writes_done() { cat /sys/block/nvme0*n1/stat | awk '{ n += $5 } END { print n + 0 }'; }
in_flight() { cat /sys/block/nvme0*n1/inflight | awk '{ n += $2 } END { print n + 0 }'; }
load_runs() { [ "$(writes_done)" -ge $((written + 64)) ] && [ "$(in_flight)" -gt 0 ]; }
# The target is dead: what is in flight now stays so until the host notices.
caught_in_flight() {
	await killed && in_flight | tee /tmp/caught && [ "$(cat /tmp/caught)" -gt 0 ]
}
# What the death interrupted is sent again, so fio knows nothing of it. 128: ended by a signal.
end_load() {
	local rc=0
	kill -TERM $load || return
	wait $load || rc=$?
	grep -E 'write:|err=' /job/fio.txt
	[ $rc = 128 ] && grep -q 'err= 0' /job/fio.txt
}
# The delay is 2 s; the rest is for a connect that started before the target was back.
reconnected() { await restarted && within 30 is_live; }
is_live() { [ "$(cat /sys/class/nvme/nvme0/state)" = live ]; }
is_not_live() { ! is_live; }
check() {
	dd if=$dev of=/tmp/read bs=1M count=16 iflag=direct 2>/dev/null && same /tmp/read /job/flushed
}
no_io_error() { dmesg >/tmp/kernel && ! grep 'I/O error' /tmp/kernel; }
write_again() { dd if=/job/flushed of=$dev bs=1M seek=100 oflag=direct conv=fsync 2>/dev/null; }

run connect connect "$addr" "$nqn" --keep-alive-tmo=5 --reconnect-delay=2 --ctrl-loss-tmo=600
run 'write and flush' flushed
written=$(writes_done)
load &
load=$!
run 'load runs' within 60 load_runs
run 'ask for the kill' mark kill-me
run 'caught with I/O in flight' caught_in_flight
run 'notice the death' within 60 is_not_live
run 'ask for the restart' mark restart-me
run 'reconnect' reconnected
written=$(writes_done)
run 'load runs again' within 60 load_runs
run 'end the load' end_load
run 'what was flushed is there' check
run 'write again' write_again
run disconnect nvme disconnect -n "$nqn"
run 'no I/O error in the kernel log' no_io_error
