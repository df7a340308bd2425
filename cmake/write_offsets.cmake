# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: of the assembly FROM, the lines that OFFSET (platform/rseq/offset.inc) left, as #defines in TO.
# Invariant: a file without any such line is an error.
# Must not know: which numbers there are.
file(STRINGS "${FROM}" lines REGEX "offset: ")
if(NOT lines)
  message(FATAL_ERROR "${FROM}: no offset in it; OFFSET writes them")
endif()
set(text "// What: numbers that the compiler computed. Made by cmake/GranaryOffsets.cmake.\n")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "offset: ([A-Z0-9_]+) (-?[0-9]+)\"")
    message(FATAL_ERROR "${FROM}: '${line}' is no offset")
  endif()
  string(APPEND text "#define ${CMAKE_MATCH_1} ${CMAKE_MATCH_2}\n")
endforeach()
file(WRITE "${TO}" "${text}")
