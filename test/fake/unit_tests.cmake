# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary_unit_tests(<folder> <library> [NORSEQ] [LAB] [PROGRAM <name>] [SOURCES <source>...]): the *_test.cpp of the
#    current folder, or those that are named, as one program <folder>.tests on GoogleTest and granary_core or
#    granary_fake; each source is a ctest entry <folder>.<stem without _test>.
# Invariant: a source's tests lie in a namespace of its name, so that many sources can be compiled as one; each entry is a
#    process of its own. NORSEQ adds a second entry that runs without restartable sequences, for parts that behave
#    otherwise then. LAB gives the entries the label lab and leaves the program to the target lab_tests.
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
  cmake_parse_arguments(PARSE_ARGV 2 arg "NORSEQ;LAB" "PROGRAM" "SOURCES")
  set(sources ${arg_SOURCES})
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  endif()
  set(program "${arg_PROGRAM}")
  if(NOT program)
    set(program "${folder}.tests")
  endif()

  set(labels fast unit)
  if(arg_LAB)
    list(APPEND labels lab)
  endif()
  set(compiled)
  set(uses_rapidcheck OFF)
  foreach(source ${sources})
    file(STRINGS "${source}" includes_rapidcheck REGEX "^#include <rapidcheck")
    # Debian has rapidcheck for the native CPU only.
    if(includes_rapidcheck AND CMAKE_CROSSCOMPILING)
      continue()
    elseif(includes_rapidcheck)
      set(uses_rapidcheck ON)
    endif()
    list(APPEND compiled "${source}")
    granary_unit_test_entry(${folder} ${program} "${source}" "${arg_NORSEQ}" "${labels}")
  endforeach()

  add_executable(${program} ${compiled})
  set_target_properties(${program} PROPERTIES UNITY_BUILD ${GRANARY_UNITY} UNITY_BUILD_BATCH_SIZE 10)
  if(arg_LAB)
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(lab_tests ${program})
  endif()
  target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/test")
  target_link_libraries(${program} PRIVATE ${library} granary_warnings granary_test_code granary_unit_test_main
                        GTest::gtest Threads::Threads)
  # One precompiled header serves all that have its definitions: the command's libraries have others than the core.
  set(headers granary_test_headers)
  if(library MATCHES "^granary_(trace|analysis)$")
    set(headers granary_tool_test_headers)
  endif()
  if(NOT TARGET ${headers})
    granary_test_headers(${headers} ${library})
  endif()
  target_precompile_headers(${program} REUSE_FROM ${headers})
  if(uses_rapidcheck)
    target_link_libraries(${program} PRIVATE rapidcheck)
  endif()
endfunction()

function(granary_unit_test_entry folder program source norseq labels)
  cmake_path(GET source STEM LAST_ONLY stem)
  string(REGEX REPLACE "_test$" "" name "${folder}.${stem}")
  add_test(NAME ${name} COMMAND ${program} ${stem})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 120)
  if(norseq AND NOT CMAKE_CROSSCOMPILING)
    add_test(NAME ${name}.norseq COMMAND ${program} ${stem})
    set_tests_properties(${name}.norseq PROPERTIES LABELS "${labels}" TIMEOUT 120
                         ENVIRONMENT "GLIBC_TUNABLES=glibc.pthread.rseq=0")
  endif()
endfunction()

if(NOT TARGET granary_unit_test_main)
  add_library(granary_unit_test_main OBJECT "${CMAKE_CURRENT_LIST_DIR}/unit_test_main.cpp")
  target_link_libraries(granary_unit_test_main PRIVATE granary_warnings granary_test_code granary_sanitizers GTest::gtest)
endif()
