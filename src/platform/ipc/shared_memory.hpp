// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory that processes share: a mapped file, and words in it to sleep on.
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
// Maps the whole file to read and write, and leaves it out of dumps. Empty: the file cannot be opened or mapped. A place
// of the file's size, which give_up_shared left, is used again.
SharedFile map_shared(const char *path, SharedFile place = {});
// Maps zeroes of the process's own in place of the file. A thread that still uses the memory finds zeroes and may write.
// false: the kernel refuses, and the file stays mapped.
bool give_up_shared(SharedFile file);

// Does not sleep if the word no longer is `value`. false: the time was up.
bool sleep_on_shared(std::uint32_t *word, std::uint32_t value, unsigned milliseconds);
void wake_shared(std::uint32_t *word);

// Whether the process still runs. One that has ended and that its parent has not waited for does not run.
bool lives(unsigned process);

// Makes a child process find these pages zeroed, whichever call makes the child. false: the kernel cannot do this.
bool wipe_in_children(void *pages, std::size_t bytes);

unsigned own_thread_id();
void sleep_for(unsigned milliseconds);
// The kernel's name of the calling thread; 16 bytes, ended by a zero.
void own_thread_name(char *name);

}  // namespace gr::platform
