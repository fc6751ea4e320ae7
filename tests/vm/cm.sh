#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cm.sh - the connection manager against Linux's, without NVMe: Debian's rping and ucmatose on both
# sides, here with libsoftroce preloaded, in the guest over rdma_rxe. Either side is the server once.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
for p in rping ucmatose ss; do
	command -v $p >/dev/null || skip "$p is not installed"
done

soft() { "$vm/vm-net" exec env LD_PRELOAD="$libdir/libsoftroce.so" timeout "$@"; }

# serve N COMMAND...: the N-th server, announced to the guest once its socket is open.
serve() {
	local n=$1 pid
	shift
	soft 90 "$@" >"$work/target.$n.log" 2>&1 &
	pid=$!
	until [ -n "$("$vm/vm-net" exec ss -Huan 'sport = :4791' src $ADDR)" ]; do
		kill -0 $pid || die "server $n did not start"
		sleep 0.1
	done
	sleep 0.2 # from the socket to rdma_listen()
	: >"$work/k/up.$n"
	wait $pid || die "server $n ended with $?"
}

guest k 2 200 cm.sh $ADDR
serve 1 rping -s -p 7001 -C 20
serve 2 rping -s -p 7002 -C 20
serve 3 ucmatose -p 7003 -c 8 -C 10
await k ready.1 60
soft 30 rping -c -a 10.99.0.2 -p 7004 -C 20
await k ready.2 60
soft 30 ucmatose -s 10.99.0.2 -p 7005 -c 8 -C 10
finish k
echo 'both connection managers understand each other'
