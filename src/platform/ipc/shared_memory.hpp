// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory that processes share: a file that is mapped, and words of it to sleep on.
// Invariant: takes no memory and no lock of libc's, leaves errno as it was, keeps no file open.
// Must not know: what the memory holds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

struct SharedFile {
    char *begin = nullptr;
    std::size_t bytes = 0;
};
// The whole of it, to read and write, and left out of dumps; nothing: it cannot be opened or mapped.
SharedFile map_shared(const char *path);

// Not at all if the word is another already. false: the time was up.
bool sleep_on_shared(std::uint32_t *word, std::uint32_t value, unsigned milliseconds);
void wake_shared(std::uint32_t *word);

// Whether there is such a process that still runs: one that ended and was not asked for is none.
bool lives(unsigned process);

// Pages that fork's child, of whatever kind that is, finds zeroed. false: the kernel cannot.
bool wipe_in_children(void *pages, std::size_t bytes);

unsigned own_thread_id();
void sleep_for(unsigned milliseconds);
// The kernel's, of the calling thread; 16 bytes, ended by a zero.
void own_thread_name(char *name);

}  // namespace gr::platform
