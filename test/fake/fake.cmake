# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      granary_fake: the core with test/fake/memory.cpp in the place of the kernel's memory.
# Invariant: the core is the archive that other tests link; the seam is the linker's, which takes what an object defines
#            before it looks into an archive, so the archive's own memory.cpp stays out.
# Must not know: the tests.
include_guard(GLOBAL)

add_library(granary_fake_memory OBJECT "${CMAKE_CURRENT_LIST_DIR}/memory.cpp")
target_include_directories(granary_fake_memory PRIVATE "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(granary_fake_memory PRIVATE granary_warnings granary_rules granary_core)

add_library(granary_fake INTERFACE)
target_sources(granary_fake INTERFACE $<TARGET_OBJECTS:granary_fake_memory>)
target_include_directories(granary_fake INTERFACE "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(granary_fake INTERFACE granary_core)
