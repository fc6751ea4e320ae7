# SPDX-License-Identifier: Apache-2.0
# cm.sh ADDR - the kernel's connection manager (rdma_rxe, librdmacm's own tools) against
# ours: as client, as client of a port where nobody listens, as server.
# shellcheck shell=bash
. /job/lib.sh
addr=$1

# client N COMMAND...: once the other side's N-th server is up.
client() {
	await "up.$1" || return
	shift
	timeout 30 "$@"
}
refused() {
	await up.2 || return
	rping -c -a "$addr" -p 9 -C 1 2>&1 | tee /tmp/refused
	grep -q 'REJECTED, error 8' /tmp/refused
}
# server N COMMAND...: the N-th server for the other side's client.
server() {
	local n=$1 pid
	shift
	timeout 60 "$@" &
	pid=$!
	sleep 1
	mark "ready.$n"
	wait $pid
}

run 'rping client' client 1 rping -c -a "$addr" -p 7001 -C 20
run 'refused' refused
run 'rping client again' client 2 rping -c -a "$addr" -p 7002 -C 20
run 'ucmatose client' client 3 ucmatose -s "$addr" -p 7003 -c 8 -C 10
run 'rping server' server 1 rping -s -p 7004 -C 20
run 'ucmatose server' server 2 ucmatose -p 7005 -c 8 -C 10
run 'kernel log' kernel_log_is_clean
