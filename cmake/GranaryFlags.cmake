# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the compiler and linker flags, each with its reason, as interface libraries.
# Invariant: what the library needs to be a malloc (granary_rules) is apart from what we want of our code
#            (granary_warnings); tests and the tool take only the second.
# Must not know: which files are compiled with them.
include_guard(GLOBAL)

add_library(granary_warnings INTERFACE)
target_compile_features(granary_warnings INTERFACE cxx_std_20)
target_compile_options(granary_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${PROJECT_IS_TOP_LEVEL}>>:-Werror>)

# For programs that nobody debugs as they are shipped: where each variable lies takes a quarter of an optimised compilation.
add_library(granary_lines INTERFACE)
target_compile_options(granary_lines INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)

add_library(granary_rules INTERFACE)
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
