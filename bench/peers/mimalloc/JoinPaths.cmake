# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the function that mimalloc's CMakeLists.txt fills its pkg-config file with; the crate leaves it out.
# Invariant: joins by slashes. Nothing of it reaches compiled code.
# Must not know: what the paths are for.
function(join_paths joined)
  list(JOIN ARGN "/" path)
  set(${joined} "${path}" PARENT_SCOPE)
endfunction()
