# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      granary_unit_tests(<folder> <library> [NORSEQ]): every *_test.cpp of the current folder as a program and
#            ctest entry <folder>.<stem without _test>, on GoogleTest and granary_core or granary_fake.
# Invariant: NORSEQ adds a second entry that runs without restartable sequences, for parts that behave otherwise then.
# Must not know: the tests.
include_guard(GLOBAL)

# What each unit test reads is compiled once: GoogleTest takes longer than most tests.
function(granary_test_headers name)
  set(nothing "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  file(CONFIGURE OUTPUT "${nothing}" CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${nothing}")
  target_link_libraries(${name} PRIVATE granary_warnings granary_test_code ${ARGN} GTest::gtest)
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <algorithm> <array> <atomic> <functional> <map> <random> <set>
                            <string> <thread> <vector>)
endfunction()

function(granary_unit_tests folder library)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  foreach(source ${sources})
    granary_one_unit_test(${folder} ${library} "${source}" ${ARGN})
  endforeach()
endfunction()

# Debian has rapidcheck for the native CPU only.
function(granary_one_unit_test folder library source)
  cmake_path(GET source STEM LAST_ONLY stem)
  string(REGEX REPLACE "_test$" "" stem "${stem}")
  set(name "${folder}.${stem}")
  file(STRINGS "${source}" uses_rapidcheck REGEX "^#include <rapidcheck")
  if(uses_rapidcheck AND CMAKE_CROSSCOMPILING)
    return()
  endif()
  add_executable(${name} "${source}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/test")
  target_link_libraries(${name} PRIVATE ${library} granary_warnings granary_test_code GTest::gtest_main Threads::Threads)
  # One precompiled header serves all that have its definitions: the command's libraries have others than the core.
  set(headers granary_test_headers)
  if(library MATCHES "^granary_(trace|analysis)$")
    set(headers granary_tool_test_headers)
  endif()
  if(NOT TARGET ${headers})
    granary_test_headers(${headers} ${library})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
  if(uses_rapidcheck)
    target_link_libraries(${name} PRIVATE rapidcheck)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "fast;unit" TIMEOUT 120)
  if("NORSEQ" IN_LIST ARGN AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME ${name}.norseq COMMAND ${name})
    set_tests_properties(${name}.norseq PROPERTIES LABELS "fast;unit" TIMEOUT 120
                         ENVIRONMENT "GLIBC_TUNABLES=glibc.pthread.rseq=0")
  endif()
endfunction()
