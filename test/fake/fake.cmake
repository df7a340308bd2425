# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary_fake: the core with test/fake/memory.cpp and clock.cpp in the place of the kernel's memory and clock.
# Invariant: the core is the archive that other tests link; the seam is the linker's, which takes what an object defines
#    before it looks into an archive, so the archive's own memory.cpp and clock.cpp stay out.
# Must not know: the tests.
include_guard(GLOBAL)

add_library(granary_fake_kernel OBJECT "${CMAKE_CURRENT_LIST_DIR}/clock.cpp" "${CMAKE_CURRENT_LIST_DIR}/memory.cpp")
target_include_directories(granary_fake_kernel PRIVATE "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(granary_fake_kernel PRIVATE granary_warnings granary_rules granary_core)

add_library(granary_fake INTERFACE)
target_sources(granary_fake INTERFACE $<TARGET_OBJECTS:granary_fake_kernel>)
target_include_directories(granary_fake INTERFACE "${PROJECT_SOURCE_DIR}/test")
target_link_libraries(granary_fake INTERFACE granary_core)
