# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the version variables that mimalloc's CMakeLists.txt includes; the crate leaves mimalloc's own cmake/ out.
# Invariant: says what mimalloc.h says. They name the library file and reach no compiled code.
# Must not know: which of mimalloc's versions it is.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/include/mimalloc.h" mi_version_line REGEX "define MI_MALLOC_VERSION")
string(REGEX REPLACE ".* ([0-9]+)([0-9][0-9])([0-9][0-9]) .*" "\\1;\\2;\\3" mi_version_numbers "${mi_version_line}")
list(TRANSFORM mi_version_numbers REPLACE "^0" "")
list(GET mi_version_numbers 0 mi_version_major)
list(GET mi_version_numbers 1 mi_version_minor)
list(GET mi_version_numbers 2 mi_version_patch)
set(mi_version "${mi_version_major}.${mi_version_minor}")
set(PACKAGE_VERSION "${mi_version}")
