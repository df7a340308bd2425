// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: facts about the process and its machine, its environment, messages to standard error, and its end.
// Invariant: usable before main, in signal handlers and without libc's locks; only functions whose comment says so open
//    a file.
// Must not know: what the allocator does with the facts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

// The process runs with rights its user lacks (AT_SECURE): its environment is not to be trusted.
bool is_secure();

// NAME=VALUE strings, ended by nullptr; nullptr while there are none.
const char *const *environment();
// The options that the program sets in the variable gr_options (granary/granary.h). nullptr: it sets none, or the
// loader has not relocated the program yet.
const char *program_options();
// The value of an environment variable. nullptr: it is not set, or the environment is not to be trusted.
const char *variable(const char *name);

unsigned process_id();
// Whether the calling thread is the one with which the process began; in fork's child, the one that forked.
bool is_first_thread();

// The words of the running command with spaces between them, as much as fits; ended by a zero. Opens a file. If that is
// refused, the text is the kernel's name of the thread.
void command_line(char *text, std::size_t size);

std::size_t physical_memory_bytes();

// Of this process, from /proc; 0 if /proc does not tell. Both open a file. For huge_page_bytes() the kernel walks the
// page tables of the process.
std::size_t resident_bytes();
std::size_t huge_page_bytes();

// Which memory may have huge pages, from /sys; none if /sys does not tell. Opens a file.
enum class HugePagesFor : std::uint8_t { nobody, who_asks, everybody };
HugePagesFor huge_pages_for();

// Copies the process's own memory, which may be unmapped. false: it is unmapped, or the kernel refuses. Opens a file.
// Uses only system calls that sandboxes let through.
bool read_own(std::uintptr_t address, void *to, std::size_t bytes);

// Whether the word at this address can be read. The kernel is asked by a system call that every sandbox lets through.
bool is_readable(std::uintptr_t address);

// RLIMIT_AS, or SIZE_MAX; and the limit up to which the process may raise it.
std::size_t address_space_limit();
std::size_t highest_address_space_limit();

// RLIMIT_DATA, which limits writable memory, or SIZE_MAX.
std::size_t data_limit();

// A number above every CPU number and every concurrency id that the kernel can give us; 0 if it does not say. Opens a
// file.
unsigned cpu_bound();

// Such a number by the kernel's list of possible CPUs, which is seldom much longer than there are CPUs. 0: the file cannot be
// read, or is not the kernel's own: a container may show other numbers there.
unsigned possible_cpus(const char *path);

// CPUs this process may use now, at least 1.
unsigned usable_cpus();

// False while the loader has not yet relocated this library (an IFUNC resolver of another library is calling). Then
// nothing that goes through the global offset table may be used.
bool is_relocated();

// Writes the whole text, in as many writes as it takes. Returns 0, or the kernel's negative errno.
long write_all(int fd, const char *text, std::size_t size);

// Standard error as it was when keep() was called, for messages after the program has closed it. The text goes to a
// second descriptor or to standard error's own number, whichever still is the kept file. A program may have closed both
// and opened other files under their numbers.
class KeptStderr {
  public:
    // Only the first successful call keeps the file. false: standard error is closed.
    bool keep();
    void write_all(const char *text, std::size_t size) const;

  private:
    struct File {
        std::uint64_t device = 0;
        std::uint64_t number = 0;
    };
    static bool identify(int fd, File *file);

    int duplicate_ = 2;
    bool is_kept_ = false;
    File file_;
};

// Ends the process at once. Nothing that the program registered for its end is called.
[[noreturn]] void exit(int code);

// Writes one line to stderr, then raises SIGABRT.
[[noreturn]] void fatal(const char *text, std::size_t size);

}  // namespace gr::platform
