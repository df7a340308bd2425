# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what Granary runs on: Linux with glibc of a version that registers restartable sequences.
# Invariant: elsewhere the configuration ends with one sentence that says what is missing.
# Must not know: what needs it.
include_guard(GLOBAL)
include(CheckCSourceCompiles)

set(granary_least_glibc 2.35)
string(REPLACE "." "," granary_least_glibc_numbers ${granary_least_glibc})
check_c_source_compiles("
  #include <features.h>
  #if !defined(__linux__) || !defined(__GLIBC__) || !__GLIBC_PREREQ(${granary_least_glibc_numbers})
  #error
  #endif
  int main(void) { return 0; }" GRANARY_PLATFORM_IS_KNOWN)
if(NOT GRANARY_PLATFORM_IS_KNOWN)
  message(FATAL_ERROR "Granary needs Linux with glibc ${granary_least_glibc} or later; other C libraries are not supported.")
endif()
