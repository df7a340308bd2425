#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: installs the Debian package as a user does, uses it, and removes it.
# Invariant: apt gets the package alone, so its dependencies must be complete; after the removal no file of it is left.
# Must not know: how the package was made.
# Usage: deb.sh FOLDER, which has granary_*.deb and granary-dbgsym_*.ddeb. As root, in a Debian that is not needed
# otherwise.
set -euo pipefail
folder=$(realpath "$1")
work=$(mktemp -d)
cd "$work"
trap 'rm -rf "$work"' EXIT

fail() {
    echo "deb: $1" >&2
    exit 1
}

list_files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var -o -path /granary -o \
        -path /etc/ld.so.cache \) -prune -o -print | LC_ALL=C sort
}

apt-get update > apt.log
# What the test needs besides; a package that granary depends on must come with granary.
apt-get install -y --no-install-recommends gcc libc6-dev pkg-config >> apt.log 2>&1
echo "$folder"/granary_*.deb
dpkg --info "$folder"/granary_*.deb | sed -n '/Package:/,$p'
list_files > before
apt-get install -y --no-install-recommends "$folder"/granary_*.deb > install.log 2>&1 || { cat install.log >&2; exit 1; }
grep '^Inst\|newly installed' install.log || true
dpkg --verify granary

granary run true
granary run grep -q /libgranary.so /proc/self/maps
granary run --gc sh -c 'test -e "${LD_LIBRARY_PATH%%:*}/libgc.so.1"'
granary doctor "$(command -v apt-get)"
granary record --quiet -o the.trace ls / > listed
granary summary the.trace > summary
granary replay --rounds 1 the.trace
granary leaks true
granary why $$ > why 2>&1 && fail "this shell does not run on Granary, and granary why says that it does"
ldconfig -p > loader
! grep 'libgc\.so\|libgccpp\|/granary/' loader || fail "the loader finds what only granary run --gc shall find"
grep -q 'libgranary.so.0' loader || fail "the loader does not know libgranary.so.0"
grep -q 'libgranary-prefixed.so.0' loader || fail "the loader does not know libgranary-prefixed.so.0"

for page in man1/granary.1 man1/granary-record.1 man3/granary.3 man3/granary-gc.3 man7/granary-options.7; do
    gzip --test "/usr/share/man/$page.gz"
done
for file in doc/granary/copyright doc/granary/README.md doc/granary/CHANGELOG.md.gz doc/granary/LICENSE-APACHE \
            doc/granary/LICENSE-MIT bash-completion/completions/granary zsh/vendor-completions/_granary \
            granary/granary_trace.py; do
    [ -s "/usr/share/$file" ] || fail "/usr/share/$file is missing"
done
bash -c '. /usr/share/bash-completion/completions/granary; COMP_WORDS=(granary re); COMP_CWORD=1; _granary
         [ "${COMPREPLY[*]}" = "record report replay" ]' || fail "bash does not complete 'granary re'"

cat > program.c <<'END'
#include <granary/granary.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    free(malloc(100));
    return printf("%s\n", GR_VERSION_MAJOR == 0 ? "linked with granary" : "?") < 0;
}
END
for package in granary granary-static; do
    read -ra flags <<< "$(pkg-config --cflags --libs "$package")"
    gcc -Wall -Werror program.c -o "with-$package" "${flags[@]}"
    "./with-$package"
done
cat > beside.c <<'END'
#include <granary/malloc.h>
#include <stdlib.h>
int main(void) {
    void *mine = gr_malloc(100), *other = malloc(100);
    if (!gr_owns(mine) || gr_owns(other)) return 1;
    gr_free(mine);
    free(other);
    return 0;
}
END
for package in granary-prefixed granary-prefixed-static; do
    read -ra flags <<< "$(pkg-config --cflags --libs "$package")"
    gcc -Wall -Werror beside.c -o "with-$package" "${flags[@]}"
    "./with-$package"
done
readelf -d with-granary > needed
grep -q 'NEEDED.*libgranary.so.0' needed || fail "pkg-config granary does not link the library"

# The debug symbols lie where gdb looks for them by build id.
dpkg -i "$folder"/granary-dbgsym_*.ddeb >> install.log 2>&1 || { cat install.log >&2; exit 1; }
for file in /usr/bin/granary "$(realpath "$(sed -n 's/.*libgranary.so.0 .*=> //p' loader)")"; do
    id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
    [ -s "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] || fail "there are no debug symbols of $file"
    readelf -S "$file" > sections
    ! grep debug_info sections || fail "$file is not stripped"
done

apt-get remove -y granary-dbgsym granary > remove.log 2>&1 || { cat remove.log >&2; exit 1; }
apt-get autoremove -y >> remove.log 2>&1
list_files > after
left=$(comm -13 before after | grep granary || true)
[ -z "$left" ] || fail "left behind: $left"
ldconfig -p > loader
! grep granary loader || fail "the loader still knows a library of granary"
echo "deb: installed, used and removed"
