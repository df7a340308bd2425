# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the packages that CPack makes of what is installed: a Debian package with its debug symbols apart, and a tarball.
# Invariant: both hold the same files. Only the folders differ: the Debian package has its libraries in Debian's
#    multiarch folder, the tarball in lib/. CPack knows one set of folders in a build tree, so scripts/package configures
#    the tree once for each of them and runs CPack between; nothing is compiled twice.
# Must not know: which files there are; GranaryInstall.cmake knows.
include_guard(GLOBAL)
if(NOT PROJECT_IS_TOP_LEVEL OR CMAKE_CROSSCOMPILING)
  return()
endif()

set(package_files "${PROJECT_SOURCE_DIR}/cmake/package")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CPACK_PACKAGE_NAME "${PROJECT_NAME}")
set(CPACK_PACKAGE_VENDOR "The Granary authors")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE-MIT")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE "${package_files}/generator.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${package_files}/finish.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Granary authors")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Granary replaces malloc and its family in unmodified programs. The command
granary runs programs on it, records what programs allocate on any allocator,
and explains the memory of running processes. The package also has the
headers, a conservative garbage collector and libraries to link with, of
which one leaves malloc as it is.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, python3")
# The debug symbols lie in a package of their own, found by build id.
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
# A package of a program that links libgranary.so.0 depends on this minor version, as CHANGELOG.md promises no more.
math(EXPR next_minor "${PROJECT_VERSION_MINOR} + 1")
set(range "granary (>= ${PROJECT_VERSION}), granary (<< ${PROJECT_VERSION_MAJOR}.${next_minor})")
file(WRITE "${PROJECT_BINARY_DIR}/cmake/shlibs" "libgranary ${PROJECT_VERSION_MAJOR} ${range}\n"
     "libgranary-prefixed ${PROJECT_VERSION_MAJOR} ${range}\n" "libgranary-gc ${PROJECT_VERSION_MAJOR} ${range}\n")
# CPack adds scripts that call ldconfig, too, which does no harm.
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${package_files}/triggers" "${PROJECT_BINARY_DIR}/cmake/shlibs")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

include(CPack)
