# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: runs the product's suites on each allocator of the lab, and on the smallest one, which is here as a test of
#    the suites themselves.
# Invariant: a suite names once what is run; every allocator passes the same. What is left out is what tells of the
#    product alone: gr_*, its options, its messages, and what is counted.
# Must not know: what a suite tests; which allocators there are.

# Where there is no lab there are no tests; and the other compiler builds the libraries, but what they do is tried once.
set(granary_lab_is_tried OFF)
if(TARGET lab AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(granary_lab_is_tried ON)
endif()
if(granary_lab_is_tried)
  granary_lab_library(smallest smallest.hpp "${PROJECT_BINARY_DIR}/test/lab" "${PROJECT_SOURCE_DIR}/test/lab")
endif()

function(granary_lab_names result)
  set(names)
  if(granary_lab_is_tried)
    get_property(names GLOBAL PROPERTY GRANARY_LAB_ALLOCATORS)
    list(PREPEND names smallest)
  endif()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# One of each algorithm: between them they use every store, every heap choice, every end of a heap and every way of a
# remote free.
set(granary_lab_samples smallest single owned_destroyed recommended coalescing varied streamflow mtmalloc solaris_like
    hoard lfmalloc lfmalloc_transactional boehm jemalloc2006 phkmalloc_like)
# One of each paper, for what takes long.
set(granary_lab_of_papers hoard recommended boehm jemalloc2006 lfmalloc)

# granary_lab_test(<suite> COMMAND <command...> [ENVIRONMENT <NAME=value...>] [TIMEOUT <seconds>] [SOAK|EACH|SAMPLES])
# Registers lab.<allocator>.<suite>. In the command and the environment @LIBRARY@ is the target of the allocator's library.
# CI runs the allocators of granary_lab_of_papers, with SAMPLES those of granary_lab_samples, with EACH all, and the soak
# the others; with SOAK the soak runs all.
function(granary_lab_test suite)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SOAK;EACH;SAMPLES" "TIMEOUT" "COMMAND;ENVIRONMENT")
  granary_lab_names(names)
  set(in_ci ${granary_lab_of_papers})
  if(arg_EACH)
    set(in_ci ${names})
  elseif(arg_SAMPLES)
    set(in_ci ${granary_lab_samples})
  endif()
  foreach(name ${names})
    set(labels fast lab)
    set(name_end ${suite})
    set(configurations)
    if(arg_SOAK)
      string(APPEND name_end .soak)
    endif()
    if(arg_SOAK OR NOT name IN_LIST in_ci)
      set(labels soak)
      set(configurations CONFIGURATIONS soak)
    endif()
    set(library lab_${name})
    string(REPLACE "_" "-" shown ${name})
    string(REPLACE "@LIBRARY@" ${library} command "${arg_COMMAND}")
    string(REPLACE "@LIBRARY@" ${library} environment "${arg_ENVIRONMENT}")
    granary_variant_test(lab.${shown}.${name_end} COMMAND ${command} ENVIRONMENT ${environment} VARIANTS plain
      TIMEOUT ${arg_TIMEOUT} LABELS ${labels} ${configurations})
  endforeach()
endfunction()

# granary_lab_preload_test(<suite> <target> [ARGS <arguments...>] [as granary_lab_test])
# Runs the program under LD_PRELOAD of each allocator's library.
function(granary_lab_preload_test suite target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGS;ENVIRONMENT")
  granary_lab_test(${suite} COMMAND $<TARGET_FILE:${target}> ${arg_ARGS}
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:@LIBRARY@> GR_TEST_EXPECT=$<TARGET_FILE_NAME:@LIBRARY@> ${arg_ENVIRONMENT}
    ${arg_UNPARSED_ARGUMENTS})
endfunction()
