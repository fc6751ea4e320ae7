# SPDX-License-Identifier: Apache-2.0
# plug_target.sh ADDR NQN - softsta-tgt on two drives in root ports; stactl resets one under load, and
# brings it back after it was unplugged and plugged in again.
# shellcheck shell=bash
. /job/lib.sh
export LD_LIBRARY_PATH=/job SOFTSTA_EUS=2
addr=$1 nqn=$2 log=/job/target.log
stactl() { /job/stactl -s /tmp/tgt.sock "$@"; }

drives() {
	local d
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/class")" != 0x010802 ] || basename "$d"
	done
}
listens() { grep -q 'listening on' $log || ! kill -0 "$pid" 2>/dev/null; }
resets() { for _ in 1 2 3 4 5 6; do stactl drive reset "$1" || return; done; }
says() { grep "$1" $log; }
is_unplugged() { [ ! -e "/sys/bus/pci/devices/$1" ]; }
is_plugged() { [ -e "/sys/bus/pci/devices/$1/vendor" ]; }
state_is() { stactl rpc bdev_nvme_get_controllers "{\"name\": \"$1\"}" | grep -q "\"$2\""; }
reset_fails() { ! stactl drive reset "$1"; }
# The queue of each of the two execution units has seen commands of the drive.
queues_used() {
	stactl stats --queue >/tmp/queues
	awk -v drive="$1" '/^queue/ { mine = $4 == drive }
		mine && $1 == "commands" { print drive ": " $2 " commands"; used += $2 > 0 }
		END { exit used != 2 }' /tmp/queues
}

run modules modprobe -a nvme vfio-pci vfio_iommu_type1
drives >/tmp/drives
mapfile -t all </tmp/drives
run 'two drives' test ${#all[@]} = 2
for d in "${all[@]}"; do run "bind $d" within 10 /job/stactl drive bind "$d"; done
/job/softsta-tgt --listen "$addr" --nqn "$nqn" --allow-any-host --rpc-socket /tmp/tgt.sock \
	--drive "${all[0]}" --drive "${all[1]}" >$log 2>&1 &
pid=$!
within 30 listens
run 'target' says 'listening on'
mark ready
run 'a host is there' await reset 120
run 'resets under load' resets "${all[0]}"
run 'both queues are in use' within 20 queues_used "${all[0]}"
run 'to be unplugged' await unplugging 120
run 'the kernel took it' within 60 is_unplugged "${all[0]}"
run 'the target let it go' says 'the kernel takes the drive back'
run 'its state' state_is "${all[0]}" failed
run 'the other serves' state_is "${all[1]}" enabled
run 'a reset says that it is not there' reset_fails "${all[0]}"
mark unplugged
run 'to be plugged in' await plugging 200
run 'it is there' within 60 is_plugged "${all[0]}"
run 'bind it' within 20 /job/stactl drive bind "${all[0]}"
run 'bring it back' within 20 stactl drive reset "${all[0]}"
run 'its state' state_is "${all[0]}" enabled
await stop 200
kill -TERM $pid
wait $pid
rc=$?
cat $log
run 'target ended well' test $rc = 0
run 'no DMA went astray' test "$(dmesg | grep -c 'DMAR:.*fault')" = 0
