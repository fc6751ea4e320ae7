#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill.sh - the target is killed with SIGKILL during I/O and started again.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

img=$(disk kill.img 256M)
args=(--listen "$ADDR" --nqn "$NQN" --export "$img" --allow-any-host)
start_target "${args[@]}"
guest host 2 400 kill.sh $ADDR $NQN
await host kill-me 120
kill_target
mark host killed
await host restart-me 120
start_target "${args[@]}"
mark host restarted
finish host
stop_target

dd if="$img" bs=1M count=16 status=none | cmp - "$work/host/flushed" ||
	die 'what was flushed before the kill is not on the disk'
dd if="$img" bs=1M skip=100 count=16 status=none | cmp - "$work/host/flushed" ||
	die 'what was written after the reconnect is not on the disk'
echo 'flushed data survived, the host reconnected by itself'
