# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary_part, how the sources of the library are compiled, and granary_sources, which finds them.
# Invariant: a source is compiled once; each library, and each archive that tests link, is a choice of parts.
# Must not know: which parts there are.
include_guard(GLOBAL)

include(CheckIPOSupported)
check_ipo_supported(RESULT ipo LANGUAGES CXX OUTPUT ipo_reason)
set(granary_lto OFF)
if(ipo AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT GRANARY_SANITIZE)
  set(granary_lto ON)
endif()

# granary_part(<name> <sources...>): an object library. In a release build its objects hold both forms where both are
# needed, so that a library can be optimised as one piece, and others link machine code at once.
function(granary_part name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${GRANARY_UNITY})
  target_link_libraries(${name} PRIVATE granary_warnings granary_rules granary_sanitizers)
  if(granary_lto)
    set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
    if(GRANARY_GC OR GRANARY_LAB OR GRANARY_TESTS)
      target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffat-lto-objects>)
    endif()
  endif()
endfunction()

# A target that links a part's machine code, not its LTO form.
add_library(granary_machine_code INTERFACE)
target_link_options(granary_machine_code INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)

# How a part becomes one relocatable object. LTO ends here, at the merge: no consumer needs our compiler. The whole is not
# parted: gcc 14 ends with an internal error when it parts it.
set(granary_merge_flags -r -nostdlib)
if(granary_lto)
  list(APPEND granary_merge_flags -flto=auto -flto-partition=none -flinker-output=nolto-rel
       -O2 -g -fPIC -ffunction-sections -fno-plt -fno-semantic-interposition -fno-exceptions -fasynchronous-unwind-tables
       -fno-stack-protector -ftls-model=initial-exec
       -fno-gnu-unique) # a unique symbol cannot become local
endif()

function(granary_sources result)
  list(TRANSFORM ARGN APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "/offsets\\.cpp$") # compiled for assembly files only: GranaryOffsets.cmake
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
