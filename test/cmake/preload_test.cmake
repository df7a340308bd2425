# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: builds black-box test programs and registers them with ctest under LD_PRELOAD, in three variants.
# Invariant: a test program is never linked with the library; only the program runs under it, not env or taskset.
# Must not know: what a program tests.

# A test program that must see each of its allocations happen: the compiler may not remove or fold any.
function(granary_black_box_program target)
  add_executable(${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/test/black_box)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -fno-builtin)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS ON)
  target_link_libraries(${target} PRIVATE granary_warnings Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# granary_variant_test(<name> COMMAND <command...> [ENVIRONMENT <NAME=value...>] [VARIANTS <plain|norseq|onecpu...>]
#                      [SOAK_VARIANTS <norseq|onecpu...>] [TIMEOUT <seconds>] [LABELS <labels...>]
#                      [CONFIGURATIONS <configurations...>])
# Registers <name>, <name>.norseq (libc registers no restartable sequences) and <name>.onecpu (pinned to the first
# allowed CPU); what SOAK_VARIANTS names runs in the soak only. Without VARIANTS all three are registered: in CI run plain
# and norseq, in a folder that sets granary_ci_variants those, and the others in the soak. The environment is given to the
# command itself. Exit code 77 means skipped.
function(granary_variant_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;ENVIRONMENT;VARIANTS;SOAK_VARIANTS;LABELS;CONFIGURATIONS")
  if(NOT arg_VARIANTS)
    set(arg_VARIANTS plain norseq)
    if(granary_ci_variants)
      set(arg_VARIANTS ${granary_ci_variants})
    endif()
    list(REMOVE_ITEM arg_VARIANTS "" ${arg_SOAK_VARIANTS})
    set(arg_SOAK_VARIANTS plain norseq onecpu)
    list(REMOVE_ITEM arg_SOAK_VARIANTS ${arg_VARIANTS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  foreach(variant IN LISTS arg_VARIANTS arg_SOAK_VARIANTS)
    set(configurations ${arg_CONFIGURATIONS})
    set(labels ${arg_LABELS})
    if(variant IN_LIST arg_SOAK_VARIANTS)
      set(configurations soak)
      set(labels soak)
    endif()
    set(test_name ${name})
    set(pin)
    set(environment ${arg_ENVIRONMENT})
    if(variant STREQUAL "norseq")
      string(APPEND test_name ".norseq")
      list(APPEND environment GLIBC_TUNABLES=glibc.pthread.rseq=0)
    elseif(variant STREQUAL "onecpu")
      string(APPEND test_name ".onecpu")
      set(pin taskset -c 0)
    elseif(NOT variant STREQUAL "plain")
      message(FATAL_ERROR "granary_variant_test(${name}): unknown variant ${variant}; use plain, norseq, onecpu")
    endif()
    add_test(NAME ${test_name} CONFIGURATIONS ${configurations}
      COMMAND ${pin} env ${environment} ${arg_COMMAND})
    set_tests_properties(${test_name} PROPERTIES
      TIMEOUT ${arg_TIMEOUT} LABELS "${labels}" SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

# granary_preload_test(<name> <target> [LIBRARY <target>] [ARGS <arguments...>] [as granary_variant_test])
# Runs the program under LD_PRELOAD of the shared library, Granary's where none is named.
function(granary_preload_test name target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "LIBRARY" "ARGS;ENVIRONMENT")
  if(NOT arg_LIBRARY)
    set(arg_LIBRARY granary_shared)
  endif()
  granary_variant_test(${name}
    COMMAND $<TARGET_FILE:${target}> ${arg_ARGS}
    ENVIRONMENT LD_PRELOAD=$<TARGET_FILE:${arg_LIBRARY}> ${arg_ENVIRONMENT}
    ${arg_UNPARSED_ARGUMENTS})
endfunction()
