#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# drive.sh - our NVMe driver through VFIO and an IOMMU, in a guest with three controllers: blocks of
# 512 and of 4096 bytes, and two namespaces on one. stactl binds them, but not while they are in use.
# The images are compared afterwards.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

small=$(disk small.img 64M)
large=$(disk large.img 64M)
first=$(disk first.img 64M)
second=$(disk second.img 64M)
mkdir "$work/drive"
cp "$BUILD_DIR/tests/vm/drive_test" "$BUILD_DIR/tools/stactl/stactl" "$work/drive/"
guest_drive_machine=$(drive_machine "$small" "$large" "$first" "$second")
"$vm/vm-run" -n drive -T 200 -j "$work/drive" -R -a intel_iommu=on \
	-q "$guest_drive_machine" "$vm/guest/drive.sh" || die 'the guest failed'

# pattern BLOCK_BYTES NSID: what drive_test left behind the first block, by its first queue.
pattern() {
	python3 -c '
import sys
block, nsid = int(sys.argv[1]), int(sys.argv[2])
size = 32 * 4096
for part in range(8):
    first = part * size // block + 1
    sys.stdout.buffer.write(bytes(((first + i // block) * 7 + nsid * 31 + i % 251) & 255
                                  for i in range(size)))
' "$1" "$2"
}
pattern 512 1 | cmp -n $((8 * 131072)) - "$small" 0 512 || die 'the drive of 512-byte blocks'
pattern 4096 1 | cmp -n $((8 * 131072)) - "$large" 0 4096 || die 'the drive of 4096-byte blocks'
pattern 512 1 | cmp -n $((8 * 131072)) - "$first" 0 512 || die 'namespace 1 of two'
pattern 512 2 | cmp -n $((8 * 131072)) - "$second" 0 512 || die 'namespace 2 of two'
echo 'the images hold what was written'
