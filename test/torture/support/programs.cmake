# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: black-box programs that share the torture headers, and soak tests, which a plain ctest leaves out.
# Invariant: a soak test runs a program that also runs, shorter, in CI.
# Must not know: what a program tests.
if(NOT TARGET program_options)
    add_subdirectory(${PROJECT_SOURCE_DIR}/bench/options ${PROJECT_BINARY_DIR}/bench/options)
endif()
set(granary_torture_support ${CMAKE_CURRENT_LIST_DIR})

# Weak references stay open until run time only when the linker is told so.
function(granary_torture_program target)
    granary_black_box_program(${target} ${ARGN})
    target_include_directories(${target} PRIVATE ${granary_torture_support})
    target_compile_options(${target} PRIVATE -Wshadow -Wconversion)
    target_link_options(${target} PRIVATE -pie -Wl,-z,dynamic-undefined-weak,--as-needed)
    target_link_libraries(${target} PRIVATE program_options)
    add_dependencies(${target} granary_shared)
endfunction()

# granary_soak_test(<name> <target> ARGS <arguments...> TIMEOUT <seconds>): with rseq and without, under
# `ctest -C soak -L soak` only.
function(granary_soak_test name target)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "ARGS")
    foreach(variant plain norseq)
        set(test_name ${name}.soak)
        set(environment LD_PRELOAD=$<TARGET_FILE:granary_shared>)
        if(variant STREQUAL "norseq")
            string(APPEND test_name ".norseq")
            list(APPEND environment GLIBC_TUNABLES=glibc.pthread.rseq=0)
        endif()
        add_test(NAME ${test_name} CONFIGURATIONS soak
            COMMAND env ${environment} $<TARGET_FILE:${target}> ${arg_ARGS})
        set_tests_properties(${test_name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS soak)
    endforeach()
endfunction()
