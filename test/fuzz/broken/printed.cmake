# SPDX-License-Identifier: Apache-2.0 OR MIT
# Finds a failure on the broken malloc, compiles the program printed for it, and runs it on the same malloc.
function(must_be status wanted what)
  if(NOT status EQUAL wanted)
    message(FATAL_ERROR "${what}: status ${status} instead of ${wanted}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
set(ENV{FUZZ_DEFECT} overlap)
execute_process(
  COMMAND ${DRIVER} --allocator ${ALLOCATOR} --seed 11 --length 500 --keep ${FOLDER} --expect "overlaps live block"
  RESULT_VARIABLE status)
must_be("${status}" 0 "finding the defect")
file(GLOB program ${FOLDER}/*.cpp)
execute_process(
  COMMAND ${COMPILER} -std=c++20 -I ${INCLUDE} ${program} -o ${FOLDER}/failure -pthread RESULT_VARIABLE status)
must_be("${status}" 0 "compiling ${program}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=${ALLOCATOR} ${FOLDER}/failure
  RESULT_VARIABLE status ERROR_VARIABLE message)
must_be("${status}" 1 "running ${program}")
if(NOT message MATCHES "overlaps live block")
  message(FATAL_ERROR "the program failed in another way: ${message}")
endif()
