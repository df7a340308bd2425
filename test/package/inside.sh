#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the steps of scripts/portability, run where scripts/chroot runs commands: at the root of a copy of the sources.
# Invariant: a step installs the packages that it names and no others. The last line of its output is its result.
# Must not know: which Debian this is.
# Usage: inside.sh STEP [ARGUMENT]
set -euo pipefail

groups=(lib build test lint view site package chroot readers demo peers bench)
libraries=(granary_shared granary_static granary_prefixed granary_prefixed_static gc_shared gccpp_shared gcmalloc_shared record_shared)

# Every name in scripts/setup is a package that this Debian has.
names() {
    apt-get update
    local group line missing
    for group in "${groups[@]}"; do
        line=$(scripts/setup --check "$group" 2>&1 | grep -e --no-install-recommends || true)
        read -ra missing <<< "${line##*--no-install-recommends }"
        [ ${#missing[@]} = 0 ] || apt-get install --dry-run --no-install-recommends "${missing[@]}"
    done
    echo "yes"
}

lib() {
    scripts/setup lib
    make lib
    LD_PRELOAD=$PWD/build/lib/libgranary.so grep -q libgranary.so /proc/self/maps
    echo "yes"
}

all() {
    scripts/setup build
    make
    build/release/granary run grep -q libgranary.so /proc/self/maps
    build/release/granary version
    echo "yes"
}

# Warnings are counted, not fatal: one run tells all.
compiler() {
    local cxx=$1 cc=${1/g++/gcc} log warnings linking=
    scripts/setup build
    case $cxx in
        clang*) apt-get install -y --no-install-recommends "$cxx"
                cxx=${cxx/clang/clang++} ;;
        *) apt-get install -y --no-install-recommends "$cxx" ;;
    esac
    # Debian 13's g++-13 has a libstdc++.so of its own, older than the one that libfmt needs and programs run with.
    [ -L "$("$cxx" -print-file-name=libstdc++.so)" ] || linking=-Wl,--allow-shlib-undefined
    log=build/$1.log
    rm -rf "build/$1"
    cmake --preset release -B "build/$1" "-DCMAKE_CXX_COMPILER=$cxx" "-DCMAKE_C_COMPILER=$cc" -DGRANARY_TESTS=OFF \
        -DGRANARY_BENCH=OFF -DGRANARY_LAB=OFF -DGRANARY_MAN=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF \
        "-DCMAKE_EXE_LINKER_FLAGS=$linking"
    cmake --build "build/$1" --target "${libraries[@]}" granary_tool | tee "$log"
    "build/$1/granary" run grep -q libgranary.so /proc/self/maps
    warnings=$(grep -c ' warning: ' "$log" || true)
    rm -rf "build/$1"
    [ "$warnings" = 0 ] && echo "no warning" || echo "$warnings warnings"
}

package() {
    scripts/setup build package
    scripts/package
    echo "yes"
}

tarball() {
    apt-get install -y --no-install-recommends pkg-config
    test/package/tarball.sh build/package
    echo "yes"
}

"$@"
