# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      find_package(GTest) builds GoogleTest from Debian's sources, with the flags and for the CPU of the preset.
# Invariant: the targets are GTest::gtest, GTest::gtest_main, GTest::gmock and GTest::gmock_main, as everywhere.
# Must not know: the tests.
find_path(GRANARY_GOOGLETEST NAMES googletest/include/gtest/gtest.h PATHS /usr/src/googletest
          NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "GoogleTest's sources (Debian: googletest)")
if(GRANARY_GOOGLETEST AND NOT TARGET gtest)
  set(INSTALL_GTEST OFF)
  add_subdirectory("${GRANARY_GOOGLETEST}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  foreach(target gtest gtest_main gmock gmock_main)
    target_link_libraries(${target} PUBLIC granary_sanitizers)
  endforeach()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GTest REQUIRED_VARS GRANARY_GOOGLETEST
  REASON_FAILURE_MESSAGE "install Debian's package googletest")
