# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary_offsets, which writes what an assembly file knows of C++'s structures and constants.
# Invariant: the compiler that compiles the library computes each number, so assembly and C++ cannot differ.
# Must not know: which numbers there are.
include_guard(GLOBAL)

# granary_offsets(<name> <source>): an interface library. <source> is compiled to assembly only; each OFFSET in it is a
# #define in the file of the same name that ends with .inc, found by its path below the folder of <source>'s root:
# src/platform/rseq/offsets.cpp gives "platform/rseq/offsets.inc".
function(granary_offsets name source)
  set(root "${PROJECT_SOURCE_DIR}/src")
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${root}" OUTPUT_VARIABLE path)
  cmake_path(REMOVE_EXTENSION path)
  set(generated "${PROJECT_BINARY_DIR}/generated")
  set(base "${generated}/${path}")
  cmake_path(GET base PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  if(CMAKE_CXX_COMPILER_TARGET)
    list(APPEND flags "${CMAKE_CXX_COMPILE_OPTIONS_TARGET}${CMAKE_CXX_COMPILER_TARGET}")
  endif()
  if(CMAKE_SYSROOT)
    list(APPEND flags "${CMAKE_CXX_COMPILE_OPTIONS_SYSROOT}${CMAKE_SYSROOT}")
  endif()
  list(APPEND flags -std=c++20 -O1 -fno-lto) # with LTO the compiler writes no assembly
  add_custom_command(OUTPUT "${base}.inc"
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} "-I${root}" "-I${PROJECT_SOURCE_DIR}/include"
            -MD -MT "${base}.inc" -MF "${base}.d" -S -o "${base}.s" "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DFROM=${base}.s" "-DTO=${base}.inc" -P "${PROJECT_SOURCE_DIR}/cmake/write_offsets.cmake"
    DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/cmake/write_offsets.cmake" DEPFILE "${base}.d"
    VERBATIM COMMENT "Computing the offsets of ${path}")
  add_custom_target(${name}_written DEPENDS "${base}.inc")
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE "${generated}")
  add_dependencies(${name} ${name}_written)
endfunction()
