// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: facts about the process and its machine, its environment, and its last words.
// Invariant: usable before main, in signal handlers and without libc's locks; only what is marked so opens a file.
// Must not know: what the allocator does with the facts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::platform {

// The process runs with rights its user lacks (AT_SECURE): its environment is not to be trusted.
bool is_secure();

// NAME=VALUE strings, ended by nullptr; nullptr while there are none.
const char *const *environment();
// What the program says of its options, in the variable gr_options (granary/granary.h); nullptr: nothing, or the loader has
// not relocated the program yet.
const char *program_options();
// What the environment says it is; nullptr: nothing, or it is not to be trusted.
const char *variable(const char *name);

unsigned process_id();
// Whether the calling thread is the one with which the process began; in fork's child, the one that forked.
bool is_first_thread();

// The words of the command that runs, with spaces between them, as much as fits; ended by a zero. A file is opened; where
// that is refused, the name that the kernel has for the thread.
void command_line(char *text, std::size_t size);

std::size_t physical_memory_bytes();

// Of this process, as /proc tells them; 0 where it does not. Both open a file, and the kernel walks its page tables for
// the second.
std::size_t resident_bytes();
std::size_t huge_page_bytes();

// For whom the system has huge pages, as /sys tells (a file is opened); never where it does not.
enum class HugePagesFor : std::uint8_t { nobody, who_asks, everybody };
HugePagesFor huge_pages_for();

// Its own memory, where nothing may be mapped; false: so it is, or the kernel does not let it look. By system calls that
// sandboxes let through.
bool read_own(std::uintptr_t address, void *to, std::size_t bytes);

// RLIMIT_AS, or SIZE_MAX; and how far the process may raise it itself.
std::size_t address_space_limit();
std::size_t highest_address_space_limit();

// RLIMIT_DATA, or SIZE_MAX: what may be writable.
std::size_t data_limit();

// Above every CPU number and every concurrency id the kernel can give us; 0 when it does not say.
unsigned cpu_bound();

// The same as /sys tells it, which is seldom so much more than there are (a file is opened); 0 where it does not.
unsigned possible_cpus();

// CPUs this process may use now, at least 1.
unsigned usable_cpus();

// False while the loader has not yet relocated this library (an IFUNC resolver of another one is calling): nothing
// that goes through the global offset table may be used.
bool is_relocated();

// Everything, in as many writes as it takes; the kernel's negative errno, or 0.
long write_all(int fd, const char *text, std::size_t size);

// Standard error as it was when it was kept, for those who speak after the program closed its own: by a second
// descriptor, or by its own number, whichever still is that file. A program may have closed both and opened others.
class KeptStderr {
  public:
    // The first time. false: it is closed.
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

// At once: nothing that the program registered for its end is called.
[[noreturn]] void exit(int code);

// One line on stderr, then SIGABRT.
[[noreturn]] void fatal(const char *text, std::size_t size);

}  // namespace gr::platform
