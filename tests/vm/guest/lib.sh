# SPDX-License-Identifier: Apache-2.0
# lib.sh - functions for scripts that run in a guest:  . /job/lib.sh
# shellcheck shell=bash
set -o pipefail
PORT=${PORT:-4420}

# say WORDS: a line of the report, with the guest's uptime.
say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# run NAME COMMAND...: one step; the script ends with 1 when it fails.
run() {
	local name=$1
	shift
	say "$name"
	"$@" || {
		say "FAILED: $name (exit status $?)"
		dmesg | grep -E 'nvme|rxe|infiniband' | tail -20
		exit 1
	}
}

# within SECONDS COMMAND...: until the command succeeds; 1 when time is up.
within() {
	local n=$(($1 * 5))
	shift
	while ! "$@"; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		usleep 200000
	done
}

# connect ADDR NQN [nvme-connect options]: connect and wait for the namespaces.
connect() {
	local a=$1 n=$2
	shift 2
	modprobe -a nvme-rdma || return
	nvme connect -t rdma -a "$a" -s "$PORT" -n "$n" "$@" || return
	within 20 test -b /dev/nvme0n1
}

# mark NAME, await NAME: tell the other side of the job directory, wait for it.
mark() { : >"/job/$1"; }
await() { within "${2:-60}" test -e "/job/$1"; }

# kernel_log_is_clean: no error of RDMA or NVMe in the kernel log.
kernel_log_is_clean() {
	dmesg | grep -E 'nvme|rxe|rdma|infiniband|blk_update|I/O error' >/tmp/kernel || return
	! grep -iE 'error|fail|time ?out|reset|reconnect|abort|invalid|unexpected' /tmp/kernel
}

# same FILE FILE: as cmp, which is several times slower under emulation.
same() {
	local a b
	a=$(md5sum <"$1") && b=$(md5sum <"$2") && [ "$a" = "$b" ]
}

# sum_of_range DEV MIB COUNT FILE: the MD5 sum of COUNT MiB from MIB on (multiples of 4, which
# is several commands at once), for the other side.
sum_of_range() {
	dd if="$1" bs=4M skip=$(($2 / 4)) count=$(($3 / 4)) iflag=direct 2>/dev/null | md5sum >"$4"
}
