// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: rebound.hpp.
// Invariant: as there. dlopen sees the address of its caller, by which it chooses where it searches.
// Must not know: the recording.
#include "recorder/rebound.hpp"

#include <dlfcn.h>

#include <atomic>

#include "platform/ipc/call_for_another.hpp"
#include "platform/loader.hpp"
#include "recorder/next.hpp"

namespace gr {
namespace {

constexpr const char *kFamily[] = {"malloc",        "calloc",     "realloc",           "reallocarray",   "memalign",
                                   "aligned_alloc", "valloc",     "pvalloc",           "posix_memalign", "free",
                                   "cfree",         "free_sized", "free_aligned_sized"};
constexpr const char *kOthers[] = {"mmap", "mmap64", "munmap", "mremap",     "madvise", "sbrk",
                                   "brk",  "_exit",  "_Exit",  "quick_exit", "dlclose", "pthread_setname_np"};
constexpr const char *kMark = "gr_record_mark";

std::atomic<bool> is_wanted{false};  // ordered by the lock of the loader's list

bool is_still_wanted() { return is_wanted.load(std::memory_order_relaxed); }
bool always() { return true; }

platform::LoadedObject own_object() { return platform::LoadedObject(reinterpret_cast<const void *>(&is_still_wanted)); }

void *defined_elsewhere(const char *name) { return platform::definition_of(name, own_object()).function; }

using Open = void *(const char *, int);
std::atomic<Open *> real_open{nullptr};

void *open_and_rebind(const char *file, int flags) {
    void *const library =
        platform::call_for_another(real_open.load(std::memory_order_relaxed), file, flags, __builtin_return_address(0));
    if (library != nullptr) rebound.include_new();
    return library;
}

// Whoever opens a library at this moment has reached the loader by a word that was not changed yet.
void wait_for_openings() {
    Open *const open = real_open.load(std::memory_order_relaxed);
    void *const program = open == nullptr ? nullptr : open(nullptr, RTLD_LAZY);
    if (program != nullptr) dlclose(program);
}

}  // namespace

void Rebound::add(const platform::Rebinding &rebinding) {
    if (rebinding.to != nullptr && count_ < kMost) list_[count_++] = rebinding;
}

void Rebound::add(const char *name, void *to, const platform::LoadedObject *left_alone) {
    const platform::Definition definition = platform::definition_of(name, own_object());
    if (definition.function != nullptr) add({name, definition.function, definition.stand_in, to, true, left_alone});
}

void Rebound::add_own(const char *name, const platform::LoadedObject *left_alone) {
    add(name, platform::definition_in(next.own(), name), left_alone);
}

// libstdc++'s operators call malloc by a word of libstdc++'s. Those of an allocator call the allocator directly.
void Rebound::add_operators() {
    for (const char *const name : {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"}) {
        if (!next.object.contains(defined_elsewhere(name))) return;
    }
    for (const Operator &each : operators()) {
        if (next.object.contains(defined_elsewhere(each.name))) add(each.name, each.function, &next.object);
    }
}

bool Rebound::find() {
    if (!next.find(&defined_elsewhere) || next.malloc == nullptr || next.free == nullptr) return false;
    const platform::LoadedObject *const left_alone = next.is_apart() ? &next.object : nullptr;
    count_ = 0;
    for (const char *const name : kFamily) add_own(name, left_alone);
    for (const char *const name : kOthers) add_own(name, nullptr);
    if (next.is_apart()) add_operators();
    const platform::Definition open = platform::definition_of("dlopen", own_object());
    real_open.store(reinterpret_cast<Open *>(open.function), std::memory_order_relaxed);
    add("dlopen", reinterpret_cast<void *>(&open_and_rebind), left_alone);
    add({kMark, nullptr, nullptr, platform::definition_in(next.own(), kMark), false, nullptr});
    return true;
}

void Rebound::begin() {
    is_wanted.store(true, std::memory_order_relaxed);
    include_new();
    wait_for_openings();
    include_new();
}

void Rebound::include_new() { platform::rebind({&list_[0], count_}, next.own(), &is_still_wanted); }

void Rebound::undo() {
    is_wanted.store(false, std::memory_order_relaxed);
    platform::Rebinding back[kMost];
    std::size_t count = 0;
    for (const platform::Rebinding &each : std::span(&list_[0], count_)) {
        // A program that has seen the function of marks may be about to call it.
        if (each.from != nullptr) back[count++] = {each.name, each.to, nullptr, each.from, false, nullptr};
    }
    platform::rebind({&back[0], count}, next.own(), &always);
}

}  // namespace gr
