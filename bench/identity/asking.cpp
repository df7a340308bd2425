// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library for LD_PRELOAD, before an allocator's: at each malloc and free it asks WAY who the thread is,
//    and goes on to the next library. So a whole program pays for a way (Boehm, table 1).
//    One library for each way; "none" does not ask, and the others are compared with it.
// Invariant: every thread is asked for what it has set before. All else of the family goes by.
// Must not know: which allocator comes next.
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <cstddef>

#include "slot.hpp"
#include "stack_hash.hpp"

namespace gr::bench {
namespace {

namespace none {
[[maybe_unused]] Identity get() { return 1; }
[[maybe_unused]] void set(Identity) {}
}  // namespace none

namespace getspecific {
constinit pthread_key_t key = PTHREAD_KEYS_MAX;  // none; libc refuses it

[[maybe_unused, gnu::constructor]] void make_key() { pthread_key_create(&key, nullptr); }
[[maybe_unused]] Identity get() { return reinterpret_cast<Identity>(pthread_getspecific(key)); }
[[maybe_unused]] void set(Identity identity) { pthread_setspecific(key, reinterpret_cast<void *>(identity)); }
}  // namespace getspecific

constinit thread_local bool setting = false;  // what a way allocates for a new thread is not asked about

void introduce() {
    if (setting) return;
    setting = true;
    WAY::set(1);
    setting = false;
}

// The answer is in a register, and nothing reads it.
void ask() {
    const Identity answer = WAY::get();
    if (answer == 0) [[unlikely]]
        introduce();
    asm volatile("" : : "r"(answer));
}

// Every thread gets the same answer, so two threads that ask at once do no harm.
template <typename Function>
Function *next(const char *name, Function *&known) {
    Function *found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == nullptr) [[unlikely]] {
        found = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found;
}

void *(*next_malloc)(std::size_t) = nullptr;
void (*next_free)(void *) = nullptr;

}  // namespace
}  // namespace gr::bench

#pragma GCC visibility push(default)
extern "C" {

void *malloc(std::size_t size) noexcept {
    gr::bench::ask();
    return gr::bench::next("malloc", gr::bench::next_malloc)(size);
}

void free(void *block) noexcept {
    gr::bench::ask();
    gr::bench::next("free", gr::bench::next_free)(block);
}
}
#pragma GCC visibility pop
