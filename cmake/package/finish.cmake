# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: changes the installed files before CPack packs them: archives lose their debug symbols; the Debian package has
#    its man pages and its changelog compressed, as Debian's policy asks.
# Invariant: the build folder stays as it is.
# Must not know: which files there are.
find_program(strip NAMES strip REQUIRED)
file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/*.a")
if(archives)
  execute_process(COMMAND "${strip}" --strip-debug --enable-deterministic-archives ${archives} COMMAND_ERROR_IS_FATAL ANY)
endif()
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(gzip NAMES gzip REQUIRED)
  file(GLOB_RECURSE texts "${CPACK_TEMPORARY_DIRECTORY}/*/share/man/*" "${CPACK_TEMPORARY_DIRECTORY}/*/CHANGELOG.md")
  if(texts)
    execute_process(COMMAND "${gzip}" --best --no-name --force ${texts} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
