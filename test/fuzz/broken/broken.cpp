// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libc's malloc with one defect, named by FUZZ_DEFECT: what the model must catch.
// Invariant: with FUZZ_DEFECT=none nothing is wrong; a defect shows at some opportunities only.
// Must not know: the model.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "granary/granary.h"

extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t members, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
}

namespace {

constexpr unsigned kPeriod = 40;
constexpr unsigned kAlways = 1;

// Whether the named defect is asked for and its turn has come.
bool strikes(const char *defect, unsigned period = kPeriod) {
    static std::atomic<unsigned> g_turns{0};
    const char *wanted = std::getenv("FUZZ_DEFECT");
    if (wanted == nullptr || std::strcmp(wanted, defect) != 0) return false;
    return ++g_turns % period == 0;
}

std::atomic<char *> g_victim{nullptr};  // a block that is live, most likely
std::atomic<std::uint64_t> g_live{0};

// libc's own function: this library's usable size may lie.
std::size_t true_size(void *block) {
    using Function = std::size_t (*)(void *);
    static const auto kReal = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    return block == nullptr ? 0 : kReal(block);
}

// Granary keeps errno when it succeeds; libc does not always.
template <typename Call>
void *keeping_errno(Call call) {
    const int before = errno;
    void *block = call();
    if (block != nullptr) errno = before;
    return block;
}

void *given(void *block) {
    g_live += true_size(block);
    if (block != nullptr) g_victim = static_cast<char *>(block);
    return block;
}

void taken(void *block) {
    if (g_victim == block) g_victim = nullptr;
    if (!strikes("live")) g_live -= true_size(block);
}

void damage() {
    if (char *victim = g_victim) *victim = static_cast<char>(~*victim);
}

std::size_t rounded(std::size_t alignment) {
    std::size_t power = 1;
    while (power < alignment && power != 0) power *= 2;
    return power;
}

void *aligned(std::size_t alignment, std::size_t size) {
    if (strikes("misalign")) return static_cast<char *>(__libc_malloc(size + 64)) + 8;
    return given(keeping_errno([&] { return __libc_memalign(alignment, size); }));
}

// In fork's child.
void after_fork() {
    if (strikes("fork", kAlways)) damage();
}

[[gnu::constructor]] void watch_forks() {
    if (pthread_atfork(nullptr, nullptr, &after_fork) != 0) std::abort();
}

}  // namespace

extern "C" {

void *malloc(size_t size) {
    if (char *victim = g_victim; victim != nullptr && strikes("overlap")) return victim;
    if (size > 0 && size <= 1024 && strikes("null")) {
        errno = ENOMEM;
        return nullptr;
    }
    return given(keeping_errno([&] { return __libc_malloc(size); }));
}

void *calloc(size_t members, size_t size) {
    void *block = keeping_errno([&] { return __libc_calloc(members, size); });
    const std::size_t bytes = true_size(block);
    if (bytes != 0 && members * size > 0 && strikes("dirty")) static_cast<char *>(block)[members * size - 1] = 1;
    return given(block);
}

void *realloc(void *block, size_t size) {
    const std::size_t before = true_size(block);
    if (size == 0 && block != nullptr) {
        taken(block);
        __libc_free(block);
        return nullptr;
    }
    void *moved = keeping_errno([&] { return __libc_realloc(block, size); });
    if (moved == nullptr) return nullptr;
    g_live -= before;
    if (block != nullptr && size > 0 && before > 0 && strikes("realloc")) *static_cast<char *>(moved) ^= 1;
    return given(moved);
}

void free(void *block) {
    if (block == nullptr) return;
    taken(block);
    __libc_free(block);
    if (strikes("errno")) errno = EINVAL;
    if (strikes("scribble")) damage();
}

// These two notice a model that mixes up its own blocks.
void free_sized(void *block, size_t size) {
    if (size > true_size(block)) std::abort();
    free(block);
}

void free_aligned_sized(void *block, size_t alignment, size_t size) {
    if (reinterpret_cast<std::uintptr_t>(block) % rounded(alignment) != 0) std::abort();
    free_sized(block, size);
}

void *memalign(size_t alignment, size_t size) { return aligned(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return aligned(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || rounded(alignment) != alignment) {
        if (strikes("touched")) *result = nullptr;
        return EINVAL;
    }
    const int saved = errno;
    void *block = aligned(alignment, size);
    errno = saved;
    if (block == nullptr) return ENOMEM;
    *result = block;
    return 0;
}

size_t malloc_usable_size(void *block) {
    const std::size_t bytes = true_size(block);
    return bytes > 0 && strikes("usable") ? bytes - 24 : bytes;
}

int malloc_trim(size_t) {
    if (strikes("trim", kAlways)) damage();
    return 0;
}

// Just enough of Granary's interface for the in-process driver.
GR_EXPORT uint32_t gr_version(void) { return GR_VERSION; }

GR_EXPORT int gr_statistics_get(gr_statistics *out) {
    *out = gr_statistics{};
    out->live_bytes = g_live;
    out->block_bytes = g_live + (strikes("equation") ? 16 : 0);
    return 0;
}

GR_EXPORT const char *gr_debug_check(void) {
    return strikes("structure") ? "a structure is broken on purpose" : nullptr;
}

}  // extern "C"
