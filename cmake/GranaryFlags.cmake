# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: the compiler and linker flags, each with its reason, as interface libraries.
# Invariant: a warning is an error where CMAKE_COMPILE_WARNING_AS_ERROR says so, as CMakePresets.json does. What the
#    library needs to be a malloc (granary_rules) is apart from what we want of our code (granary_warnings); tests and
#    the tool take only the second.
# Must not know: which files are compiled with them.
include_guard(GLOBAL)

add_library(granary_warnings INTERFACE)
target_compile_features(granary_warnings INTERFACE cxx_std_20)
target_compile_options(granary_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>)

# For programs that are not debugged as they are shipped: where each variable lies takes a quarter of an optimised
# compilation.
add_library(granary_lines INTERFACE)
target_compile_options(granary_lines INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)

# Unit tests: it is not the test that must be fast. What they test is compiled as it is shipped.
add_library(granary_test_code INTERFACE)
target_compile_options(granary_test_code INTERFACE $<$<CONFIG:RelWithDebInfo>:-O1;-g1>)
# gcc 13 and later take the name that a look-up is given, a temporary, for what its result refers to.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(granary_test_code INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
endif()

# A project that adds this folder may have named no build type; an allocator without optimisation is of no use.
get_property(granary_many_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
add_library(granary_rules INTERFACE)
if(NOT CMAKE_BUILD_TYPE AND NOT granary_many_configurations)
  target_compile_options(granary_rules INTERFACE -O2)
endif()
target_compile_options(granary_rules INTERFACE
  -fPIC
  -fvisibility=hidden                 # what is exported is said where it is defined
  $<$<COMPILE_LANGUAGE:CXX>:
    -fvisibility-inlines-hidden
    -fno-exceptions
    -fno-rtti
    -fasynchronous-unwind-tables      # std::bad_alloc passes through our frames
    -fno-threadsafe-statics           # a guard would call the C++ runtime
    -fno-semantic-interposition       # our calls of our own functions may be inlined
    -fno-plt
    -fno-stack-protector
    -ftls-model=initial-exec          # a dynamic model calls __tls_get_addr, which may allocate
    # else malloc followed by memset, inside calloc, becomes a call of calloc
    -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
    -fno-builtin-aligned_alloc -fno-builtin-posix_memalign -fno-builtin-memalign>)
target_compile_definitions(granary_rules INTERFACE
  $<$<BOOL:${GRANARY_DEBUG}>:GRANARY_DEBUG=1>
  $<$<BOOL:${GRANARY_PAUSES}>:GRANARY_PAUSES=1>
  $<$<BOOL:${GRANARY_COUNTED}>:GRANARY_COUNTED=1>)

add_library(granary_sanitizers INTERFACE)
if(GRANARY_SANITIZE)
  target_compile_options(granary_sanitizers INTERFACE
    -fsanitize=${GRANARY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(granary_sanitizers INTERFACE -fsanitize=${GRANARY_SANITIZE})
endif()
