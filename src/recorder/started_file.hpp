// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the file of a program that this process starts: whether the program can load this library.
// Invariant: nothing is allocated, no lock is taken and errno stays: a child of vfork calls this. Of a file that cannot be
//    read only its mode is known.
// Must not know: which function starts the program.
#pragma once

namespace gr {

// As execve and execvp find the file. false: it is static, has the rights of another user, or is for another libc or
// another architecture.
bool can_load(const char *path);
bool can_load_by_name(const char *name);
bool can_load(int file);

}  // namespace gr
