# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary_composed_allocators(HEADER) writes each lab/allocators/NAME.hpp whose Chosen is a Composed<...> as
#    a type of that name in CamelCase, a list of all, and each sum as text, for tests of many in one program.
# Invariant: what a test has is what the allocator's own file says, now. A file that includes the sums and whose Chosen
#    is none ends the configuration: no allocator is left out unseen.
# Must not know: the names of the allocators; what one is made of.
include_guard(GLOBAL)

function(granary_composed_allocators header)
  file(GLOB paths CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lab/allocators/*.hpp")
  set(types)
  set(list)
  set(texts)
  foreach(path ${paths})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    if(NOT text MATCHES "#include \"parts/composed/composed\\.hpp\"")
      continue()
    endif()
    if(NOT text MATCHES "using Chosen =[ \n]+(Composed<[^;]*>);")
      message(FATAL_ERROR "${path}: no `using Chosen = Composed<...>;`")
    endif()
    string(REGEX REPLACE "[ \n]+" " " sum "${CMAKE_MATCH_1}")
    cmake_path(GET path STEM name)
    granary_camel_case("${name}" type)
    string(APPEND types "using ${type} = ${sum};\n")
    string(APPEND list "${type}, ")
    string(REGEX REPLACE "^Composed<(.*)>$" "\\1" words "${sum}")
    string(APPEND texts "    if constexpr (std::is_same_v<A, ${type}>) return \"${words}\";\n")
  endforeach()
  file(CONFIGURE OUTPUT "${header}" CONTENT
"#pragma once
#include <gtest/gtest.h>

#include <type_traits>

#include \"parts/composed/composed.hpp\"

namespace gr::lab {
${types}
template <class... More>
using ComposedAllocatorsAnd = testing::Types<${list}More...>;
template <class A>
constexpr const char *sum_of() {
${texts}    return \"no sum\";
}
}  // namespace gr::lab
")
endfunction()

function(granary_camel_case name result)
  string(REPLACE "_" ";" words "${name}")
  set(joined)
  foreach(word ${words})
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND joined "${first}${rest}")
  endforeach()
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()
