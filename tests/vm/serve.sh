#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# serve.sh - two Linux hosts at once, a namespace each: discover, connect, file
# system, fio verify (both start it together), reconnect; then the bytes of the backing files compared with
# what the hosts wrote.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

one=$(disk one.img 256M)
two=$(disk two.img 256M)
start_target --listen $ADDR --nqn $NQN --export "$one" --export "$two" \
	--allow-host "$(hostnqn 2)" --allow-host "$(hostnqn 3)"
guest a 2 400 admin.sh $ADDR $NQN
guest b 3 400 second.sh $ADDR $NQN
await a fio-ready 300
await b fio-ready 300
mark a fio-go
mark b fio-go
finish a
finish b
stop_target

debugfs -c -R "dump /file $work/file" "$one" 2>/dev/null
cmp "$work/file" "$work/a/file" || die 'the file on the first disk is not what host a wrote'
dd if="$two" bs=1M skip=100 count=16 status=none | cmp - "$work/b/pattern" ||
	die 'the second disk does not hold what host b wrote'
sum_of_range "$one" 128 48 | cmp - "$work/a/fio.sum" ||
	die 'the first disk does not hold what fio on host a wrote'
sum_of_range "$two" 0 36 | cmp - "$work/b/fio.sum" ||
	die 'the second disk does not hold what fio on host b wrote'
echo 'the backing files hold what the hosts wrote'
