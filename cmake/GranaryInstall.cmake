# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what is installed, and the packages for CMake and pkg-config that lead to it.
# Invariant: every path in the packages is relative to where they lie, so the tree can be moved.
# Must not know: how the libraries are built.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/granary")
install(TARGETS granary_shared granary_static granary_fully_static granary_prefixed granary_prefixed_static EXPORT granary
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# libgc.so.1 and libgc.a are second names of the collector, in a folder where only a program that asks for them finds them.
if(TARGET gc_shared)
  set(libgc_dir "${CMAKE_INSTALL_LIBDIR}/libgc")
  install(TARGETS gc_shared gc_static EXPORT granary LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS gcmalloc_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS gccpp_shared LIBRARY DESTINATION "${libgc_dir}" NAMELINK_SKIP)
  install(TARGETS gccpp_static ARCHIVE DESTINATION "${libgc_dir}")
  install(FILES "${PROJECT_BINARY_DIR}/libgc/libgc.so.1" "${PROJECT_BINARY_DIR}/libgc/libgc.a" DESTINATION "${libgc_dir}")
endif()
if(TARGET record_shared)
  install(TARGETS record_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
# Only what was built: `make` alone leaves the lab out.
get_property(lab_names GLOBAL PROPERTY GRANARY_LAB_ALLOCATORS)
foreach(name ${lab_names})
  install(TARGETS lab_${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/granary/lab" OPTIONAL)
  install(TARGETS lab_shown_${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/granary/lab/shown" OPTIONAL)
endforeach()
if(lab_names)
  install(TARGETS lab_stage RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/granary/lab" OPTIONAL)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/lab/scripts" DESTINATION "${CMAKE_INSTALL_LIBDIR}/granary/lab" OPTIONAL)
endif()
if(TARGET granary_tool)
  install(TARGETS granary_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(TARGETS granary_player RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/granary")
  install(FILES "${PROJECT_SOURCE_DIR}/tool/reading/trace/granary_trace.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/granary")
  if(NOT CMAKE_CROSSCOMPILING) # the completions are what the command prints
    # The folder that zsh's own build searches. Debian's zsh searches another one for packages.
    set(GRANARY_ZSH_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING "Where zsh's completion is installed")
    install(FILES "${PROJECT_BINARY_DIR}/completions/granary"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES "${PROJECT_BINARY_DIR}/completions/_granary" DESTINATION "${GRANARY_ZSH_DIR}")
  endif()
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/granary" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT cmake/package/copyright
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT granary NAMESPACE granary:: DESTINATION "${package_dir}" FILE granary-targets.cmake)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/granary-config.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/granary-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/granary-config-version.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/granary-config.cmake"
              "${PROJECT_BINARY_DIR}/cmake/granary-config-version.cmake" DESTINATION "${package_dir}")

set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "/prefix/${pc_dir}" "/prefix")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
set(packages granary granary-static granary-static-cxx granary-prefixed granary-prefixed-static)
if(TARGET gc_shared)
  list(APPEND packages granary-gc granary-gc-static)
endif()
foreach(package ${packages})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in" "${PROJECT_BINARY_DIR}/cmake/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/${package}.pc" DESTINATION "${pc_dir}")
endforeach()
