# SPDX-License-Identifier: Apache-2.0
# second.sh ADDR NQN - another host at the same time, on the second namespace:
# fio with verification, then 16 MiB that the test compares on the backing file.
# shellcheck shell=bash
. /job/lib.sh
addr=$1 nqn=$2 dev=/dev/nvme0n2

fio_verify() {
	fio --name=second --filename=$dev --rw=randwrite --bsrange=4k-256k --iodepth=16 \
		--size=36m --ioengine=libaio --direct=1 --verify=crc32c --verify_fatal=1 \
		--output=/job/fio.txt
}
pattern() {
	dd if=/dev/urandom of=/job/pattern bs=1M count=16 2>/dev/null &&
		dd if=/job/pattern of=$dev bs=1M seek=100 oflag=direct conv=fsync 2>/dev/null
}

run connect connect "$addr" "$nqn"
run 'second namespace' within 10 test -b $dev
mark fio-ready
run 'wait for the other host' await fio-go 300
run 'fio verify' fio_verify
run 'sum of what it wrote' sum_of_range $dev 0 36 /job/fio.sum
run 'write a pattern' pattern
run disconnect nvme disconnect -n "$nqn"
run 'kernel log' kernel_log_is_clean
