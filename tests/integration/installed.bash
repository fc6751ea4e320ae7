# SPDX-License-Identifier: Apache-2.0
# Sourced by tests with the build folder in $build: installs it under a temporary root, where the
# script then is, and which goes with it.
#   $dir the folder, $pc the pkg-config files, $real_prefix and $prefix where it is going to be and
#   where it is now, $libdir its libraries
# A script that starts programs has a function on_exit.
# shellcheck shell=bash disable=SC2034
dir=$(mktemp -d)
trap 'on_exit; rm -rf "$dir"' EXIT
on_exit() { :; }
cd "$dir" || exit 1
fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}
# shellcheck disable=SC2154
meson install -C "$build" --no-rebuild --destdir "$dir/root" --quiet >/dev/null
pc=$(dirname "$(find "$dir/root" -name doca-sta.pc)")
export PKG_CONFIG_PATH=$pc
real_prefix=$(sed -n 's/^prefix=//p' "$pc/doca-sta.pc")
prefix=$dir/root$real_prefix
libdir=$(dirname "$pc")

# query OPTION... MODULE...: pkg-config of what is installed.
query() { pkg-config --define-variable=prefix="$prefix" "$@"; }
# query_static MODULE...: what links with the archives, in a folder without the shared libraries.
query_static() {
	mkdir -p archives
	cp "$libdir"/*.a archives
	pkg-config --define-variable=prefix="$prefix" --define-variable=libdir="$dir/archives" \
		--static --libs "$@"
}
# found PROGRAM [ARGUMENT...]: runs it with the installed libraries, which no linker option names.
found() { LD_LIBRARY_PATH=$libdir "$@"; }
