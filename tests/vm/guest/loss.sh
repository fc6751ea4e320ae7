# SPDX-License-Identifier: Apache-2.0
# loss.sh ADDR NQN - 1 % of the datagrams lost in each direction: what this guest
# sends by netem on eth0, what it receives by netem on an ifb that eth0 feeds.
#
# Linux' rdma_rxe (6.1) at times resends one SEND after a NAK and then sleeps with the rest unsent,
# until the nvme driver's I/O time-out ends the connection and connects again: 40 s each time with
# the usual settings. So these are short here. The data must be right all the same.
# shellcheck shell=bash
. /job/lib.sh
addr=$1 nqn=$2 dev=/dev/nvme0n1

lose() {
	modprobe -a sch_netem ifb act_mirred cls_matchall sch_ingress || return
	ip link add ifb0 type ifb 2>/dev/null
	ip link set ifb0 up && tc qdisc add dev eth0 ingress &&
		tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0 &&
		tc qdisc add dev ifb0 root netem loss 1% &&
		tc qdisc add dev eth0 root netem loss 1%
}
find_again() {
	tc -s qdisc show | tee /job/tc.txt | grep -o 'dropped [0-9]*' | tee /tmp/drops
	[ "$(grep -cv 'dropped 0$' /tmp/drops)" -ge 2 ]
}
fio_verify() {
	fio --name=loss --filename=$dev --rw=randwrite --bsrange=512-1m --bs_unaligned=0 --iodepth=32 \
		--numjobs=2 --size=8m --offset_increment=16m --ioengine=libaio --direct=1 --verify=crc32c \
		--verify_fatal=1 --group_reporting --output=/job/fio.txt
	local rc=$?
	grep -E 'read:|write:|err=' /job/fio.txt
	return $rc
}

run modules modprobe nvme_core io_timeout=5
run connect connect "$addr" "$nqn" --keep-alive-tmo=60 --reconnect-delay=1
run 'lose 1 % each way' lose
run 'fio verify' fio_verify
run 'datagrams were lost both ways' find_again
tc qdisc del dev eth0 root
tc qdisc del dev eth0 ingress
run disconnect nvme disconnect -n "$nqn"
