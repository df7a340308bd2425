// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's own thread in this process, as /proc shows it.
// Invariant: nothing here allocates.
// Must not know: what the thread does.
#pragma once

#include "require.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <csignal>

namespace gr::test {

struct OwnThread {
    long id = 0;  // 0: there is none
    uint64_t blocked_signals = 0;
};

// The whole of a small file.
inline void read_file(const char *path, char (&text)[4096]) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[length < 0 ? 0 : length] = '\0';
}

// Visits the ids of all threads.
template <class Visit>
void for_each_thread(Visit visit) {
    alignas(8) char entries[4096];
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail("/proc/self/task: %s", std::strerror(errno));
    for (long bytes = 0; (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
        for (long at = 0; at < bytes;) {
            const auto *const entry = reinterpret_cast<const dirent64 *>(entries + at);
            if (entry->d_name[0] != '.') visit(std::atol(entry->d_name));
            at += entry->d_reclen;
        }
    }
    close(folder);
}

inline OwnThread find_own_thread() {
    OwnThread found;
    for_each_thread([&](long id) {
        char path[64];
        char text[4096];
        std::snprintf(path, sizeof path, "/proc/self/task/%ld/status", id);
        read_file(path, text);
        if (std::strncmp(text, "Name:\tgranary\n", 14) != 0) return;
        found.id = id;
        const char *const blocked = std::strstr(text, "SigBlk:");
        if (blocked != nullptr) found.blocked_signals = std::strtoull(blocked + 7, nullptr, 16);
    });
    return found;
}

}  // namespace gr::test
