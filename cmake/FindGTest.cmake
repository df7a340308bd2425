# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: find_package(GTest): the installed GoogleTest (Debian: libgtest-dev); for another CPU it is built from Debian's
#    sources (googletest).
# Invariant: the targets are GTest::gtest and GTest::gtest_main, as everywhere.
# Must not know: the tests.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest CONFIG QUIET)
endif()
find_path(GRANARY_GOOGLETEST NAMES googletest/include/gtest/gtest.h PATHS /usr/src/googletest
          NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "GoogleTest's sources (Debian: googletest)")
if(GRANARY_GOOGLETEST AND NOT TARGET gtest AND NOT TARGET GTest::gtest)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
  add_subdirectory("${GRANARY_GOOGLETEST}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  foreach(target gtest gtest_main)
    target_link_libraries(${target} PUBLIC granary_sanitizers)
    target_compile_options(${target} PRIVATE -O0 -g0) # optimising GoogleTest takes longer than the tests would gain
    if(NOT TARGET GTest::${target})
      add_library(GTest::${target} ALIAS ${target})
    endif()
  endforeach()
endif()
include(FindPackageHandleStandardArgs)
if(TARGET GTest::gtest AND TARGET GTest::gtest_main)
  set(GRANARY_HAS_GTEST ON)
endif()
find_package_handle_standard_args(GTest REQUIRED_VARS GRANARY_HAS_GTEST
  REASON_FAILURE_MESSAGE "install Debian's packages libgtest-dev and googletest")
