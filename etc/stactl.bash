# SPDX-License-Identifier: Apache-2.0
# Completion for bash.
_stactl() {
	local word=$2 before=$3 words
	case $before in
	drive) words='list bind unbind reset' ;;
	bdev | subsystem) words=list ;;
	bind | unbind) words=$(stactl drive list --json 2>/dev/null | sed -n 's/.*"pci_address": *"\(.*\)".*/\1/p') ;;
	log) words='DISABLE CRIT ERROR WARNING INFO DEBUG TRACE' ;;
	rpc) words=$(stactl rpc rpc_get_methods 2>/dev/null | tr -d '[]",') ;;
	--world) words='app sdk' ;;
	--user) words=$(compgen -u) ;;
	-s | --socket | --root)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	*) words='drive bdev subsystem stats log rpc --socket --timeout --json --user --force
		--eu --queue --ns --world --help --version' ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	[ "$before" != bind ] && [ "$before" != unbind ] || __ltrim_colon_completions "$word" 2>/dev/null || :
}
complete -F _stactl stactl
