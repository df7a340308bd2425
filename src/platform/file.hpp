// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: small files that the kernel writes: /proc and /sys; lines that are added to a file; and files that are made.
// Invariant: takes no memory and no lock of libc's, leaves errno as it was, and no thread is cancelled in it.
// Must not know: what they say.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

// What there is of it, as much as fits, ended by a zero; its length. 0: there is no such file, or it may not be read.
std::size_t read_file(const char *path, char *text, std::size_t size);
// The same of one that was opened, or not, if it is negative; it is closed.
std::size_t read_and_close(long file, char *text, std::size_t size);

// At its end, in one write, so that no other's lies within it; what is not there is made, for its owner only. false: it
// cannot be opened, or was not written whole.
bool append_to_file(const char *path, const char *text, std::size_t size);

// Each the kernel's negative errno, or what it says. The first makes a file where none is, and opens it.
enum class Readers : std::uint8_t { owner, everybody };  // everybody: as far as the process's umask lets them
long create_file(const char *path, Readers readers = Readers::owner);
long open_file(const char *path);
long read_some(long file, char *to, std::size_t size);
long close_file(long file);
long rename_file(const char *from, const char *to);
long remove_file(const char *path);

}  // namespace gr::platform
