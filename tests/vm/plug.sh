#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# plug.sh - drives that are reset under a host's load, unplugged (by QEMU's monitor), and plugged in
# again: the host repeats what a reset interrupted, sees the namespace go and come back, and the
# other drive never fails.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip 'python3 is not installed'

# qmp COMMAND [ARGUMENTS]: to the monitor of the target's machine.
qmp() {
	python3 - "$work/qmp" "$@" <<-'PY'
		import json, socket, sys
		s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])
		f = s.makefile("rw")
		f.readline()
		def call(name, arguments): print(json.dumps({"execute": name, "arguments": arguments}), file=f, flush=True); return answer()
		def answer(): return next(m for m in map(json.loads, f) if "return" in m or "error" in m)
		call("qmp_capabilities", {})
		m = call(sys.argv[2], json.loads(sys.argv[3]))
		sys.exit(0 if "return" in m else str(m))
	PY
}

first=$(disk first.img 64M)
second=$(disk second.img 64M)
mkdir "$work/target"
cp "$prefix/bin/softsta-tgt" "$prefix/bin/stactl" "$libdir"/*.so.? "$work/target/"
machine="-machine q35,kernel-irqchip=split -device intel-iommu,intremap=on
	-qmp unix:$work/qmp,server=on,wait=off
	-device pcie-root-port,id=port1,chassis=1,slot=1
	-device pcie-root-port,id=port2,chassis=2,slot=2
	-drive file=$first,if=none,id=d1,format=raw,auto-read-only=off
	-drive file=$second,if=none,id=d2,format=raw
	-device nvme,id=n1,drive=d1,serial=FIRST,bus=port1 -device nvme,id=n2,drive=d2,serial=SECOND,bus=port2"
"$vm/vm-run" -n target -t tap1 -i 10.99.0.2/24 -T 400 -j "$work/target" -R -a intel_iommu=on \
	-q "$(tr '\n\t' '  ' <<<"$machine")" "$vm/guest/plug_target.sh" 10.99.0.2 $NQN \
	>"$work/target.log" 2>&1 &
guests+=($!)
# shellcheck disable=SC2034 # for await and finish
guest_target=$!
GUEST_CPUS=2 guest host 3 400 plug_host.sh 10.99.0.2 $NQN
await target ready 120
mark host go
await host loaded 90
mark target reset
await host unplug 150
qmp device_del '{"id": "n1"}'
mark target unplugging
await target unplugged 150
await host plug 150
qmp device_add '{"driver": "nvme", "id": "n3", "drive": "d1", "serial": "FIRST", "bus": "port1"}'
mark target plugging
finish host
mark target stop
finish target
dd if="$first" bs=64k skip=16 count=4 status=none | cmp - "$work/host/last" ||
	die 'the drive that came back does not hold what was written last'
echo 'the drive that came back holds what was written last'
