# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: what CPack does for one of its generators only.
# Invariant: the tarball is stripped as it is installed. The Debian package is stripped where its debug symbols are taken
#    out, after the installation.
# Must not know: which files there are.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_STRIP_FILES ON)
endif()
