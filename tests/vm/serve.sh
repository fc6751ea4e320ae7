#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# serve.sh - two Linux hosts at once, a namespace each: discover, connect, file
# system, fio verify, reconnect; then the bytes of the backing files compared with
# what the hosts wrote.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

one=$(disk one.img 256M)
two=$(disk two.img 256M)
start_target --listen $ADDR --nqn $NQN --export "$one" --export "$two" \
	--allow-host "$(hostnqn 2)" --allow-host "$(hostnqn 3)"
guest a 2 400 admin.sh $ADDR $NQN
guest b 3 400 second.sh $ADDR $NQN
finish a
finish b
stop_target

debugfs -c -R "dump /file $work/file" "$one" 2>/dev/null
cmp "$work/file" "$work/a/file" || die 'the file on the first disk is not what host a wrote'
dd if="$two" bs=1M skip=100 count=16 status=none | cmp - "$work/b/pattern" ||
	die 'the second disk does not hold what host b wrote'
echo 'the backing files hold what the hosts wrote'
