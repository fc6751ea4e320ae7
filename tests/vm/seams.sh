#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# seams.sh - the four combinations of the two seams: soft RoCE or the kernel's rxe below the verbs
# API, files or drives (QEMU's, through VFIO and an IOMMU) below the NVMe queue pair. The target
# runs in one guest, the host is another. Ends with a table.
#
#   guest a: softsta-tgt 10.99.0.2 --- br0 --- 10.99.0.3 guest b: nvme-rdma over rxe
#
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# hints GUEST N: what Identify Namespace says beside size and identifiers.
hints() {
	grep -E '^(nawu|nacwu|nab|noiob|npwg|npwa|npdg|npda|nows|dlfeat)' "$work/$1/id-ns.$2"
}

table=()
# combine VERBS DISKS: one combination.
combine() {
	local verbs=$1 disks=$2 n=0 d names=() args=() options=() began=$SECONDS
	rm -rf "${work:?}/target" "$work/host"
	mkdir "$work/target"
	cp "$prefix/bin/softsta-tgt" "$libdir"/*.so.? "$work/target/"
	echo "$verbs" >"$work/target/verbs"
	for d in small large first second; do names+=("$(disk "$verbs-$disks-$d.img" 64M)"); done
	if [ "$disks" = drives ]; then
		options+=(-a intel_iommu=on -q "$(drive_machine "${names[@]}")")
	else
		mkdir "$work/share"
		ln "${names[@]}" "$work/share/" 2>/dev/null || cp "${names[@]}" "$work/share/"
		options+=(-s "$work/share")
		for d in "${names[@]}"; do args+=(--export "/share/$(basename "$d")"); done
	fi
	[ "$verbs" = rxe ] || options+=(-R)
	"$vm/vm-run" -n target -t tap1 -i 10.99.0.2/24 -T 300 -j "$work/target" "${options[@]}" \
		"$vm/guest/target.sh" --listen 10.99.0.2 --nqn $NQN --allow-any-host "${args[@]}" \
		>"$work/target.log" 2>&1 &
	guests+=($!)
	# shellcheck disable=SC2034 # for await and finish
	guest_target=$!
	guest host 3 300 disks.sh 10.99.0.2 $NQN 4
	await target ready 120
	mark host go
	finish host
	mark target stop
	finish target
	for d in "${names[@]}"; do
		n=$((n + 1))
		[ "$disks" = drives ] || d=$work/share/$(basename "$d")
		sum_of_range "$d" 0 4 | cmp - "$work/host/sum.$n" ||
			die "$verbs, $disks: $(basename "$d") does not hold what the host wrote"
		[ "$disks" = files ] || diff <(hints target $n) <(hints host $n) ||
			die "$verbs: the host reads other hints of namespace $n than the drive has"
	done
	rm -rf "$work/share"
	table+=("$(printf '%-9s %-7s ok  %3d s' "$verbs" "$disks" $((SECONDS - began)))")
}

for verbs in soft rxe; do
	for disks in files drives; do combine $verbs $disks; done
done
printf '%s\n' 'verbs     disks' "${table[@]}"
