// SPDX-License-Identifier: Apache-2.0 OR MIT
// Written for glibc, whose loader keeps its variables in one structure. Reads only what the loader has mapped.
#include "platform/world/loader_locks.hpp"

#include <link.h>
#include <time.h>

#include <array>

#include "platform/loader.hpp"
#include "platform/world/range.hpp"
#include "platform/world/tasks.hpp"

namespace gr::platform {
namespace {

constexpr std::size_t kMostHeld = 8;  // variables of the loader's that look like a lock that the caller holds

// Other threads change these fields meanwhile. What the caller itself wrote there last is what the caller reads.
template <class Field>
Field now(const Field &field) {
    return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

bool is_recursive(const pthread_mutex_t *lock) { return now(lock->__data.__kind) == PTHREAD_MUTEX_RECURSIVE_NP; }
bool is_held_by(const pthread_mutex_t *lock, std::uint32_t task) {
    return static_cast<std::uint32_t>(now(lock->__data.__owner)) == task;
}

// While libraries are listed, the calling thread holds one of the locks there, which is found by its count: the listing
// raises it. The lock that is held while a thread is made lies behind it since glibc 2.35, and before it in glibc 2.34.
struct Held {
    const pthread_mutex_t *lock;
    unsigned count;
};

struct Trial {
    const char *variables;  // where the structure begins
    std::uint32_t me;
    Range all{};  // from there to the end of the loader's variables
    std::array<Held, kMostHeld> held{};
    std::size_t held_count = 0;

    const pthread_mutex_t *lock_at(const char *at) const {
        const bool fits = at >= all.begin && at + sizeof(pthread_mutex_t) <= all.end;
        return fits ? reinterpret_cast<const pthread_mutex_t *>(at) : nullptr;
    }

    bool find_variables(const dl_phdr_info &info) {
        for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
            const auto &header = info.dlpi_phdr[i];
            const auto *const begin = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr);
            const Range segment{begin, begin + header.p_memsz};
            if (header.p_type != PT_LOAD || !segment.contains(variables)) continue;
            all = {variables, segment.end};
            return true;
        }
        return false;
    }

    void find_held() {
        const pthread_mutex_t *lock = nullptr;
        for (const char *at = all.begin; (lock = lock_at(at)) != nullptr; at += sizeof(void *)) {
            if (is_recursive(lock) && is_held_by(lock, me) && held_count != kMostHeld)
                held[held_count++] = {lock, now(lock->__data.__count)};
        }
    }

    // After the list. A lock that the caller held before, or a variable that looks like a lock, is as it was.
    const pthread_mutex_t *released() const {
        const pthread_mutex_t *found = nullptr;
        for (std::size_t i = 0; i < held_count; ++i) {
            if (now(held[i].lock->__data.__count) + 1 != held[i].count) continue;
            if (found != nullptr) return nullptr;
            found = held[i].lock;
        }
        return found;
    }

    bool is_lock(const pthread_mutex_t *lock) const {
        return lock_at(reinterpret_cast<const char *>(lock)) != nullptr && is_recursive(lock);
    }
};

}  // namespace

void LoaderLocks::initialise() {
    Trial trial{.variables = static_cast<const char *>(program_symbol("_rtld_global")), .me = task_of_caller()};
    if (trial.variables == nullptr) return;
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *context) {
            auto &t = *static_cast<Trial *>(context);
            if (!t.find_variables(*info)) return 0;
            t.find_held();
            return 1;
        },
        &trial);
    list_ = const_cast<pthread_mutex_t *>(trial.released());
    if (!are_known()) return;
    if (trial.is_lock(list_ + 1)) {
        threads_ = list_ + 1;
    } else if (trial.is_lock(list_ - 1)) {
        threads_ = list_ - 1;
    }
}

bool LoaderLocks::may_be_held_by_other_than(std::uint32_t task) const {
    const auto is_held = [task](const pthread_mutex_t *lock) {
        return lock != nullptr && !is_held_by(lock, 0) && !is_held_by(lock, task);
    };
    return !are_known() || is_held(list_) || is_held(threads_);
}

// The loader locks and unlocks its list by the functions that are called here.
bool LoaderLocks::hold_list(unsigned milliseconds) const {
    constexpr long kNanoseconds = 1'000'000'000;
    if (!are_known()) return true;
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1'000'000L;
    until.tv_sec += until.tv_nsec / kNanoseconds;
    until.tv_nsec %= kNanoseconds;
    return pthread_mutex_clocklock(list_, CLOCK_MONOTONIC, &until) == 0;
}

void LoaderLocks::let_list_go() const {
    if (are_known()) pthread_mutex_unlock(list_);
}

}  // namespace gr::platform
