# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      granary_fake: the core with test/fake/memory.cpp in the place of the kernel's memory.
# Invariant: every other file of the core is compiled as it stands; the seam is the linker's.
# Must not know: the tests.
include_guard(GLOBAL)

get_target_property(fake_sources granary_core SOURCES)
get_target_property(fake_source_dir granary_core SOURCE_DIR)
list(FILTER fake_sources EXCLUDE REGEX "platform/memory\\.cpp$")
list(TRANSFORM fake_sources PREPEND "${fake_source_dir}/")

add_library(granary_fake STATIC ${fake_sources} "${CMAKE_CURRENT_LIST_DIR}/memory.cpp")
target_include_directories(granary_fake PUBLIC
  "${fake_source_dir}" "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(granary_fake PRIVATE granary_warnings granary_rules PUBLIC granary_sanitizers)
target_compile_features(granary_fake PUBLIC cxx_std_20)
target_compile_definitions(granary_fake PUBLIC $<$<BOOL:${GRANARY_DEBUG}>:GRANARY_DEBUG=1>)
