#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: unpacks the tarball in folders of several names and uses it from there.
# Invariant: nothing outside of the folders is changed, so this runs on any machine that has the command's libraries.
# Must not know: how the tarball was made.
# Usage: tarball.sh FOLDER, which has granary-*.tar.gz
set -euo pipefail
tarball=$(realpath "$1"/granary-*.tar.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work

fail() {
    echo "tarball: $1" >&2
    exit 1
}

command -v readelf > /dev/null || fail "readelf is missing; install binutils"
for name in plain "with blank" 'with $dollar:colon'; do
    mkdir "$work/$name"
    cd "$work/$name"
    tar -xzf "$tarball" --strip-components=1
    ./bin/granary run grep -q /libgranary.so /proc/self/maps
    ./bin/granary run --gc sh -c 'test -e "${LD_LIBRARY_PATH%%:*}/libgc.so.1"'
    ./bin/granary run --gc-malloc true
    ./bin/granary leaks true
    ./bin/granary record --quiet -o the.trace ls / > listed
    ./bin/granary summary the.trace > summary
    ./bin/granary replay --rounds 1 the.trace > replay
    ./bin/granary doctor ./bin/granary > doctor
    for file in share/man/man1/granary.1 share/doc/granary/copyright share/doc/granary/LICENSE-MIT lib/libgranary.a lib/libgranary-prefixed.so lib/libgranary-prefixed.a \
                lib/pkgconfig/granary.pc lib/cmake/granary/granary-config.cmake share/zsh/site-functions/_granary \
                share/bash-completion/completions/granary libexec/granary/granary-player include/granary/granary.h; do
        [ -s "$file" ] || fail "$file is missing"
    done
    ! find . -type f -exec sh -c 'readelf -S "$1" 2> /dev/null | grep -q "\.debug_info"' sh {} \; -print | grep . ||
        fail "these files are not stripped"
done

# A program that is built against the unpacked folder.
if command -v pkg-config > /dev/null && command -v gcc > /dev/null; then
    cd "$work/plain"
    printf '#include <granary/granary.h>\n#include <stdlib.h>\nint main(void) { free(malloc(1)); return GR_VERSION_MAJOR; }\n' > program.c
    for package in granary granary-static; do
        read -ra flags <<< "$(PKG_CONFIG_PATH=lib/pkgconfig pkg-config --cflags --libs "$package")"
        gcc program.c -o program "${flags[@]}"
        LD_LIBRARY_PATH=lib ./program
    done
fi
echo "tarball: unpacked and used in three folders"
