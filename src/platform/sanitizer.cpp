// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/sanitizer.hpp"

#include <cstddef>

// A unit test has neither the tool nor this library's malloc.
extern "C" {
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void *malloc(std::size_t size);
[[gnu::weak, gnu::visibility("hidden")]] void *gr_own_malloc(std::size_t size);
}

namespace gr::platform {
namespace {

// The compiler must not infer from two names that they are two functions.
void *address_of(void *(*function)(std::size_t)) {
    asm("" : "+r"(function));
    return reinterpret_cast<void *>(function);
}

}  // namespace

// A program with a sanitizer linked into it uses the sanitizer's malloc. In libgranary-prefixed, whose blocks a
// sanitizer never sees, the name malloc leads to the library's own function.
bool hides_calls_from_thread_sanitizer() {
    return &__tsan_init != nullptr && address_of(&gr_own_malloc) != nullptr &&
           address_of(&malloc) == address_of(&gr_own_malloc);
}

}  // namespace gr::platform
