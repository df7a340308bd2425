// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions that start a program: they hand on what makes the program be recorded.
// Invariant: each does what libc's does. What it needs lies on its stack, because a child of vfork may call it.
// Must not know: what a program needs to be recorded.
#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "granary/granary.h"
#include "platform/loader.hpp"
#include "platform/process.hpp"
#include "recorder/handed_on.hpp"
#include "recorder/recording.hpp"
#include "recorder/started_file.hpp"

namespace {

using Words = char *const *;
using Exec = int(const char *, Words, Words);
using ExecFile = int(int, Words, Words);
using Spawn = int(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, Words, Words);

// libc's functions, found before any child of vfork needs them.
struct Libcs {
    Exec *execve = nullptr;
    Exec *execvpe = nullptr;
    ExecFile *fexecve = nullptr;
    Spawn *posix_spawn = nullptr;
    Spawn *posix_spawnp = nullptr;
};
constinit Libcs libcs;

template <class Function>
void find(Function **function, const char *name) {
    if (*function == nullptr) *function = reinterpret_cast<Function *>(gr::platform::next_symbol(name));
}

[[gnu::constructor]] void learn() {
    gr::handed_on.learn();
    find(&libcs.execve, "execve");
    find(&libcs.execvpe, "execvpe");
    find(&libcs.fexecve, "fexecve");
    find(&libcs.posix_spawn, "posix_spawn");
    find(&libcs.posix_spawnp, "posix_spawnp");
}

int missing() {
    errno = ENOSYS;
    return -1;
}

// Calls start(environment), with the environment completed on this function's stack.
template <class Start>
int with_whole(Words environment, Start start) {
    const gr::HandedOn::Lack lack = gr::handed_on.lack_of(environment);
    if (!lack.preload && !lack.recording) return start(environment);
    constexpr std::size_t kMore = 3;
    auto *const entries = static_cast<const char **>(alloca((lack.entries + kMore) * sizeof(char *)));
    auto *const preload = static_cast<char *>(alloca(lack.preload_bytes));
    gr::handed_on.complete(environment, lack, entries, preload);
    return start(const_cast<Words>(entries));
}

// Starts a program by start(environment), with the environment completed. A program that cannot load this library or open
// the recording is counted before, because an exec that succeeds does not return. 0: the program was started.
template <class CanLoad, class Start>
int start_program(Words environment, const char *name, CanLoad can_load, Start start) {
    const bool is_missed = gr::handed_on.is_in_force() && !(gr::handed_on.is_within_reach() && can_load());
    if (is_missed) gr::recording.count_unloaded(name);
    const int result = with_whole(environment, start);
    if (is_missed && result != 0) gr::recording.uncount_unloaded();
    return result;
}

int exec_path(const char *path, Words words, Words environment) {
    find(&libcs.execve, "execve");
    if (libcs.execve == nullptr) return missing();
    return start_program(
        environment, path, [=] { return gr::can_load(path); },
        [=](Words whole) { return libcs.execve(path, words, whole); });
}
int exec_name(const char *name, Words words, Words environment) {
    find(&libcs.execvpe, "execvpe");
    if (libcs.execvpe == nullptr) return missing();
    return start_program(
        environment, name, [=] { return gr::can_load_by_name(name); },
        [=](Words whole) { return libcs.execvpe(name, words, whole); });
}

// Of the words of a list that begins with this one; the environment may follow the list.
std::size_t count_of(const char *first, va_list list) {
    std::size_t count = 0;
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the caller began it
    for (const char *word = first; word != nullptr; word = va_arg(list, const char *)) ++count;
    return count;
}

template <class Start>
int with_list(const char *first, va_list list, std::size_t count, Start start) {
    auto *const words = static_cast<const char **>(alloca((count + 1) * sizeof(char *)));
    words[0] = first;
    for (std::size_t i = 1; i <= count; ++i) words[i] = va_arg(list, const char *);
    return start(const_cast<Words>(words));
}

Words own_environment() { return const_cast<Words>(gr::platform::environment()); }

}  // namespace

extern "C" {

GR_EXPORT int execve(const char *path, Words words, Words environment) noexcept {
    return exec_path(path, words, environment);
}
GR_EXPORT int execv(const char *path, Words words) noexcept { return exec_path(path, words, own_environment()); }
GR_EXPORT int execvp(const char *name, Words words) noexcept { return exec_name(name, words, own_environment()); }
GR_EXPORT int execvpe(const char *name, Words words, Words environment) noexcept {
    return exec_name(name, words, environment);
}
GR_EXPORT int fexecve(int file, Words words, Words environment) noexcept {
    find(&libcs.fexecve, "fexecve");
    if (libcs.fexecve == nullptr) return missing();
    return start_program(
        environment, words[0] != nullptr ? words[0] : "", [=] { return gr::can_load(file); },
        [=](Words whole) { return libcs.fexecve(file, words, whole); });
}

GR_EXPORT int execl(const char *path, const char *word, ...) noexcept {
    va_list counted;
    va_list list;
    va_start(counted, word);
    va_start(list, word);
    const int result = with_list(word, list, count_of(word, counted),
                                 [=](Words words) { return exec_path(path, words, own_environment()); });
    va_end(list);
    va_end(counted);
    return result;
}
GR_EXPORT int execlp(const char *name, const char *word, ...) noexcept {
    va_list counted;
    va_list list;
    va_start(counted, word);
    va_start(list, word);
    const int result = with_list(word, list, count_of(word, counted),
                                 [=](Words words) { return exec_name(name, words, own_environment()); });
    va_end(list);
    va_end(counted);
    return result;
}
GR_EXPORT int execle(const char *path, const char *word, ...) noexcept {
    va_list counted;
    va_list list;
    va_start(counted, word);
    va_start(list, word);
    const std::size_t count = count_of(word, counted);
    const Words environment = va_arg(counted, Words);
    const int result = with_list(word, list, count, [=](Words words) { return exec_path(path, words, environment); });
    va_end(list);
    va_end(counted);
    return result;
}

GR_EXPORT int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, Words words, Words environment) {
    find(&libcs.posix_spawn, "posix_spawn");
    if (libcs.posix_spawn == nullptr) return ENOSYS;
    return start_program(
        environment, path, [=] { return gr::can_load(path); },
        [=](Words whole) { return libcs.posix_spawn(process, path, actions, attributes, words, whole); });
}
GR_EXPORT int posix_spawnp(pid_t *process, const char *name, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, Words words, Words environment) {
    find(&libcs.posix_spawnp, "posix_spawnp");
    if (libcs.posix_spawnp == nullptr) return ENOSYS;
    return start_program(
        environment, name, [=] { return gr::can_load_by_name(name); },
        [=](Words whole) { return libcs.posix_spawnp(process, name, actions, attributes, words, whole); });
}

}  // extern "C"
