#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: installs, moves the result, and builds a consumer by CMake, by pkg-config, statically; runs each.
# Invariant: after the move nothing of the first place exists, so every path in the package must be relative.
# Must not know: the library.
# Usage: install.sh BUILD_FOLDER WORK_FOLDER CMAKE CXX CC
set -euo pipefail
build=$1 work=$2 cmake=$3 cxx=$4 cc=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
# `make uninstall` reads the manifest of the user's last installation; this one is not theirs.
manifest=$build/install_manifest.txt
[ ! -e "$manifest" ] || cp -p "$manifest" "$work/manifest"
"$cmake" --install "$build" --prefix "$work/first" > "$work/install.log"
rm "$manifest"
[ ! -e "$work/manifest" ] || mv "$work/manifest" "$manifest"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

for file in bin/granary libexec/granary/granary-player share/granary/granary_trace.py include/granary/granary.h include/granary/malloc.h include/granary/heap_allocator.hpp include/granary/wire/heap_tables.h include/granary/wire/collector_tables.h include/granary/wire/recording.h include/granary/mark.h include/granary/profile.h include/granary/wire/profile_tables.h lib/libgranary.so lib/libgranary.so.0 lib/libgranary-record.so lib/libgranary.a lib/libgranary-prefixed.so lib/libgranary-prefixed.so.0 lib/libgranary-prefixed.a \
            share/man/man1/granary.1 share/man/man3/granary.3 share/man/man7/granary-options.7 \
            share/bash-completion/completions/granary share/zsh/site-functions/_granary share/doc/granary/copyright \
            share/doc/granary/LICENSE-APACHE share/doc/granary/LICENSE-MIT share/doc/granary/README.md \
            share/doc/granary/CHANGELOG.md; do
    [ -s "$prefix/$file" ] || { echo "install: $file is missing" >&2; exit 1; }
done
# The lab is installed where it was built, and the installed command finds it.
for library in "$build"/lab/liblab-*.so; do
    [ -e "$library" ] || continue
    name=$(basename "$library" .so)
    [ -s "$prefix/lib/granary/lab/$name.so" ] || { echo "install: lib/granary/lab/$name.so is missing" >&2; exit 1; }
    "$prefix/bin/granary" run --allocator "lab:${name#liblab-}" true
done
if grep -rIl -e "$build" -e "$work/first" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"; then
    echo "install: these files name the place they were built or first installed in" >&2
    exit 1
fi

fail() {
    echo "install: $1" >&2
    exit 1
}

run() {
    echo "running $1"
    env -u LD_PRELOAD "LD_LIBRARY_PATH=$prefix/lib" "$1"
}

"$cmake" -S "$here/consumer" -B "$work/by_cmake" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" \
    "-DCMAKE_CXX_COMPILER=$cxx" "-DCMAKE_C_COMPILER=$cc" > "$work/by_cmake.log"
"$cmake" --build "$work/by_cmake" >> "$work/by_cmake.log" || { cat "$work/by_cmake.log" >&2; exit 1; }
for program in shared_c shared_cpp static_c static_cpp fully_static_c fully_static_refused prefixed_c prefixed_static_c collected_gc collected_gc_static; do
    run "$work/by_cmake/$program"
done
# A readelf that fails ends the script. A program always needs libc.
expect_needed() {
    local program=$1 granarys=$2 needed
    readelf -dW "$work/by_cmake/$program" > "$work/needed"
    grep -q '(NEEDED).*\[libc\.so' "$work/needed" || fail "readelf does not tell what $program needs"
    needed=$(sed -n 's/.*(NEEDED).*\[\(libgranary.*\)\]/\1/p' "$work/needed")
    [ "$needed" = "$granarys" ] || fail "$program needs '$needed' and not '$granarys'"
}
expect_needed shared_c libgranary.so.0
expect_needed static_c ''
expect_needed prefixed_c libgranary-prefixed.so.0
expect_needed collected_gc libgranary-gc.so.0
expect_needed collected_gc_static ''

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra shared <<< "$(pkg-config --cflags --libs granary)"
read -ra static <<< "$(pkg-config --cflags --libs granary-static)"
"$cxx" -std=c++20 "$here/consumer/consumer.cpp" -o "$work/by_pkg_config" "${shared[@]}"
run "$work/by_pkg_config"
for package in granary-prefixed granary-prefixed-static; do
    read -ra prefixed <<< "$(pkg-config --cflags --libs "$package")"
    "$cc" "$here/consumer/prefixed.c" -o "$work/by_pkg_config_$package" "${prefixed[@]}"
    run "$work/by_pkg_config_$package"
done
read -ra collected <<< "$(pkg-config --cflags --libs granary-gc)"
"$cc" "$here/consumer/collected.c" -o "$work/collected_by_pkg_config" "${collected[@]}"
run "$work/collected_by_pkg_config"
read -ra collected_static <<< "$(pkg-config --cflags --libs granary-gc-static)"
for form in -static -static-pie; do
    "$cc" "$here/consumer/collected.c" -fPIE "$form" -o "$work/collected_by_pkg_config$form" "${collected_static[@]}"
    run "$work/collected_by_pkg_config$form"
    "$cc" "$here/consumer/collected.c" -fPIE "$form" -o "$work/with_both_archives$form" "${collected_static[@]}" "${static[@]}"
    run "$work/with_both_archives$form"
done
"$cxx" -std=c++20 "$here/consumer/consumer.cpp" -o "$work/by_pkg_config_static" "${static[@]}"
run "$work/by_pkg_config_static"
"$cc" "$here/consumer/consumer.c" -static -o "$work/wholly_static" "${static[@]}"
run "$work/wholly_static"
"$cxx" -std=c++20 "$here/consumer/consumer.cpp" -static -o "$work/wholly_static_cpp" "${static[@]}"
run "$work/wholly_static_cpp"
read -ra static_cxx <<< "$(pkg-config --cflags --libs granary-static-cxx)"
"$cxx" -std=c++20 "$here/consumer/refused.cpp" -static -o "$work/wholly_static_refused" "${static_cxx[@]}"
run "$work/wholly_static_refused"
# The loader's variables cannot hold the next name of the prefix, so the command names links. libgccpp.so.1 finds
# libgranary-gc.so.0 by $ORIGIN.
odd="$work/with blank and \$dollar:colon"
mv "$prefix" "$odd"
export XDG_RUNTIME_DIR=$work/runtime
mkdir "$XDG_RUNTIME_DIR"
granary() {
    echo "running granary $1 in '$odd'"
    env -u LD_PRELOAD -u LD_LIBRARY_PATH -C "$work" "$odd/bin/granary" "$@"
}
granary run grep -q libgranary.so /proc/self/maps
granary leaks grep -q libgranary-gcmalloc.so /proc/self/maps
granary record --quiet -o odd.trace --allocator granary ls
granary replay --rounds 1 odd.trace > "$work/replay.txt"
granary run --gc python3 -c 'import ctypes; ctypes.CDLL("libgccpp.so.1"); assert "libgranary-gc.so.0" in open("/proc/self/maps").read()'
echo "installed, moved twice, and used in twenty-seven ways"
