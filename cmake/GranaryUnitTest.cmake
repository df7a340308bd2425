# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      granary_unit_test(<folder> <source>...): one program on GoogleTest and granary_core, one ctest entry.
# Invariant: a test runs with and without restartable sequences.
# Must not know: the tests.
include_guard(GLOBAL)

# The name of the program and of the test is <folder>.<file>, without a trailing _test. A test whose text includes
# rapidcheck.h links it; Debian has it for the native CPU only.
function(granary_unit_test folder source)
  cmake_path(GET source STEM LAST_ONLY stem)
  string(REGEX REPLACE "_test$" "" stem "${stem}")
  set(name "${folder}.${stem}")
  file(STRINGS "${source}" rapidcheck REGEX "^#include <rapidcheck")
  file(STRINGS "${source}" gmock REGEX "^#include <gmock")
  if(rapidcheck AND CMAKE_CROSSCOMPILING)
    return()
  endif()
  add_executable(${name} "${source}" ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/test")
  target_link_libraries(${name} PRIVATE granary_core granary_warnings GTest::gtest_main Threads::Threads
                        $<$<BOOL:${gmock}>:GTest::gmock> $<$<BOOL:${rapidcheck}>:rapidcheck>)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "fast;unit;pauses" TIMEOUT 120)
  if(NOT CMAKE_CROSSCOMPILING)
    add_test(NAME ${name}.norseq COMMAND ${name})
    set_tests_properties(${name}.norseq PROPERTIES LABELS "fast;unit" TIMEOUT 120
                         ENVIRONMENT "GLIBC_TUNABLES=glibc.pthread.rseq=0")
  endif()
endfunction()
