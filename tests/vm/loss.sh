#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# loss.sh - 1 % of the datagrams dropped in each direction under fio verify.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

img=$(disk loss.img 256M)
start_target --listen $ADDR --nqn $NQN --export "$img" --allow-any-host
guest host 2 300 loss.sh $ADDR $NQN
finish host
stop_target
