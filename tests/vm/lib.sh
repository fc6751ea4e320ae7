# SPDX-License-Identifier: Apache-2.0
# lib.sh - for the vm tests on the host side:  . "$(dirname "$0")/lib.sh"
#
#   network namespace $VM_NETNS                     guest (QEMU, Debian's kernel)
#   +------------------------------------+          +-------------------------+
#   | softsta-tgt, unprivileged          |          | nvme-rdma over rdma_rxe |
#   | soft RoCE device on br0 10.99.0.1  |-- tapN --| eth0 10.99.0.N          |
#   +------------------------------------+          +-------------------------+
#
# BUILD_DIR names the build tree. What is tested is what `meson install` gives.
# VM_PCAP=FILE: capture all RoCEv2 packets to FILE.
# shellcheck shell=bash
set -euo pipefail
vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${BUILD_DIR:?}"
# shellcheck disable=SC2034 # for the tests
ADDR=10.99.0.1
# shellcheck disable=SC2034
NQN=nqn.2026-12.org.softsta:vm
export VM_NETNS=softsta-vm.$$

skip() { echo "skipped: $*"; exit 77; }
die() { echo "FAILED: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip 'needs root (network namespaces, taps)'
for p in qemu-system-x86_64 nvme fio busybox mkfs.ext4 debugfs setpriv; do
	command -v $p >/dev/null || skip "$p is not installed"
done
ls /boot/vmlinuz-* >/dev/null 2>&1 || skip 'no kernel package (linux-image-amd64)'

work=$(mktemp -d "${TMPDIR:-/tmp}/softsta-vm.XXXXXX")
target_pid=
pcap_pid=
guests=()

cleanup() {
	local rc=$? p
	trap - EXIT
	[ -z "$target_pid" ] || kill -KILL "$target_pid" 2>/dev/null || :
	[ -z "$pcap_pid" ] || kill "$pcap_pid" 2>/dev/null || :
	for p in "$work"/*/qemu.pid; do [ ! -e "$p" ] || kill "$(cat "$p")" 2>/dev/null || :; done
	for p in "${guests[@]}"; do wait "$p" 2>/dev/null || :; done
	"$vm/vm-net" down 2>/dev/null || :
	if [ $rc = 0 ] || [ $rc = 77 ]; then rm -rf "$work"; else report; fi
	exit $rc
}
trap cleanup EXIT

report() {
	local f
	for f in "$work"/target*.log "$work"/*/out "$work"/*/dmesg; do
		[ ! -s "$f" ] || { echo "--- ${f#"$work"/}"; tail -n 60 "$f"; }
	done >&2
	echo "left for a look: $work" >&2
}

chmod 755 "$work"
DESTDIR=$work/dest meson install -C "$BUILD_DIR" --no-rebuild --quiet
prefix=$(cd "$work"/dest/usr/local && pwd)
libdir=$(dirname "$(find "$prefix" -name libsoftroce.so | head -1)")
mkdir "$work/disks"
chown nobody "$work/disks"
"$vm/vm-net" up "$@"
if [ -n "${VM_PCAP:-}" ]; then
	"$vm/vm-net" exec tcpdump -i br0 -s 200 -B 65536 -w "$VM_PCAP" udp port 4791 2>/dev/null &
	pcap_pid=$!
fi

# disk NAME SIZE: an empty disk image that the target may write; prints its path.
disk() {
	local f=$work/disks/$1
	truncate -s "$2" "$f"
	chown nobody "$f"
	echo "$f"
}

# start_target ARGS...: as an ordinary user, in the namespace; waits until it listens.
start_target() {
	local log=$work/target.log i
	[ ! -e "$log" ] || mv "$log" "$work/target.$(date +%s.%N).log"
	"$vm/vm-net" exec setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs \
		env -i PATH="$PATH" LD_LIBRARY_PATH="$libdir" \
		"$prefix/bin/softsta-tgt" "$@" >"$log" 2>&1 &
	target_pid=$!
	for i in $(seq 100); do
		! grep -q 'listening on' "$log" || return 0
		kill -0 "$target_pid" 2>/dev/null || die "the target ended at start: $(cat "$log")"
		sleep 0.1
	done
	die "the target does not listen after $((i / 10)) s"
}

# stop_target: SIGTERM; it must end with 0 within 20 s.
stop_target() {
	local rc=0
	kill -TERM "$target_pid"
	timeout 20 tail --pid="$target_pid" -f /dev/null || die 'the target ignores SIGTERM'
	wait "$target_pid" || rc=$?
	target_pid=
	[ $rc = 0 ] || die "the target ended with $rc after SIGTERM"
}

kill_target() {
	kill -KILL "$target_pid"
	wait "$target_pid" 2>/dev/null || :
	target_pid=
}

hostnqn() { printf 'nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-%012d' "$1"; }

# guest NAME N LIMIT SCRIPT ARGS...: starts guest 10.99.0.N on tap(N-1); its job
# directory is $work/NAME. It has $GUEST_CPUS (1) processors, and so many I/O queues.
guest() {
	local name=$1 n=$2 limit=$3 script=$4
	shift 4
	"$vm/vm-run" -n "$name" -c "${GUEST_CPUS:-1}" -t "tap$((n - 1))" -i "10.99.0.$n/24" -T "$limit" \
		-j "$work/$name" "$vm/guest/$script" "$@" >"$work/$name.log" 2>&1 &
	guests+=($!)
	eval "guest_$name=$!"
}

# drive_machine SMALL LARGE FIRST SECOND: QEMU arguments for a machine with an IOMMU and three NVMe
# controllers: one with blocks of 512 bytes, one of 4096, one with two namespaces.
drive_machine() {
	echo "-machine q35,kernel-irqchip=split -device intel-iommu,intremap=on
		-drive file=$1,if=none,id=d1,format=raw -device nvme,id=n1,drive=d1,serial=SMALL
		-drive file=$2,if=none,id=d2,format=raw
		-device nvme,id=n2,serial=LARGE
		-device nvme-ns,drive=d2,bus=n2,nsid=1,logical_block_size=4096,physical_block_size=4096
		-drive file=$3,if=none,id=d3,format=raw -drive file=$4,if=none,id=d4,format=raw
		-device nvme,id=n3,serial=TWO
		-device nvme-ns,drive=d3,bus=n3,nsid=1 -device nvme-ns,drive=d4,bus=n3,nsid=2" |
		tr '\n\t' '  '
}

# finish NAME: waits for the guest, prints what it said, fails as it did.
finish() {
	local pid=guest_$1 rc=0
	wait "${!pid}" || rc=$?
	sed "s/^/$1: /" "$work/$1.log"
	[ $rc = 0 ] || die "guest $1 ended with $rc"
}

# await NAME FILE SECONDS: until the guest has made FILE in its job directory.
await() {
	local i pid=guest_$1
	for i in $(seq $(($3 * 5))); do
		[ ! -e "$work/$1/$2" ] || return 0
		kill -0 "${!pid}" 2>/dev/null || break
		sleep 0.2
	done
	sed "s/^/$1: /" "$work/$1/out" "$work/$1.log" >&2 || :
	die "guest $1 did not come to $2 within $3 s"
}

# mark NAME FILE: tells the guest, which awaits it.
mark() { : >"$work/$1/$2"; }

# sum_of_range FILE MIB COUNT: as in the guest.
sum_of_range() { dd if="$1" bs=1M skip="$2" count="$3" status=none | md5sum; }
