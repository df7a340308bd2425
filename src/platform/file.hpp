// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reads small files that the kernel writes (/proc and /sys), adds lines to a file, and makes files.
// Invariant: takes no memory and no lock of libc's, leaves errno as it was, and is no cancellation point.
// Must not know: what the files say.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

// Reads as much of the file as fits, and ends it with a zero. Returns the length; 0 also if there is no such file or
// the process may not read it.
std::size_t read_file(const char *path, char *text, std::size_t size);
// Like read_file(), for a file that is already open. Closes the file. If `file` is negative, the text is empty.
std::size_t read_and_close(long file, char *text, std::size_t size);

// Adds the text at the end of the file with one write, so that no other process's text lies within it. Creates a
// missing file, for its owner only. false: the file cannot be opened, or the text was not written whole.
bool append_to_file(const char *path, const char *text, std::size_t size);

// Each returns the result of the system call, or the kernel's negative errno. create_file() opens a new file, and fails
// where a file exists.
enum class Readers : std::uint8_t { owner, everybody };  // everybody: as far as the process's umask lets them
long create_file(const char *path, Readers readers = Readers::owner);
long open_file(const char *path);
long read_some(long file, char *to, std::size_t size);
long close_file(long file);
long rename_file(const char *from, const char *to);
long remove_file(const char *path);

}  // namespace gr::platform
