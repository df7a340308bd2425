# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary_must_not_compile(<name> <flags...>): every *.cpp of the current folder as a test <name>.<stem>, that the
#    compiler refuses it.
# Invariant: the flags are those of the sources, and warnings are errors.
# Must not know: the contracts.
function(granary_must_not_compile name)
  file(GLOB contracts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(flags -std=c++20 -fsyntax-only -Wall -Wextra -Werror
      "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_SOURCE_DIR}/include")
  set(labels fast)
  if(name MATCHES "^lab[.]")
    list(APPEND labels lab)
  endif()
  foreach(contract ${contracts})
    cmake_path(GET contract STEM stem)
    add_test(NAME ${name}.${stem}
             COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/test/must_not_compile/must_not_compile.py"
                     "${contract}" "${CMAKE_CXX_COMPILER}" ${flags} ${ARGN})
    set_tests_properties(${name}.${stem} PROPERTIES LABELS "${labels}" TIMEOUT 60)
  endforeach()
endfunction()
