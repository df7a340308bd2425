// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options of phkmalloc, which jemalloc took over: letters, read from three places, by an allocator's own
//    table.
// Invariant: /etc/malloc.conf, a symbolic link whose text is letters, is read first, then the variable MALLOC_OPTIONS,
//    then the program's own string _malloc_options; the last one that changes an option counts. A letter that is none,
//    or that goes beyond an option's bound, is told in one line and changes nothing. A program with
//    more rights than its user has reads no environment.
// Must not know: what an option changes, beyond the filling of blocks.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <cstring>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "platform/process.hpp"
#include "platform/syscall.hpp"

// A program that is not linked with the allocator exports it: -Wl,--export-dynamic-symbol=_malloc_options.
extern "C" [[gnu::weak, gnu::visibility("default")]] const char *_malloc_options;

namespace gr::lab {

// Those that both allocators have. phkmalloc's U is none: Linux has no utrace.
struct MallocOptions {
    int abort = 1;             // A: misuse ends the program
    int hint = 0;              // H: give the pages of a run that ends back to the kernel
    int junk = 0;              // J: fill blocks with kJunk, and what is freed with kFreedJunk
    int system_v = 0;          // V: a request of 0 bytes gets nullptr
    int fatal_exhaustion = 0;  // X: end the program where there is no memory
    int zero = 0;              // Z: fill blocks with zeroes

    static constexpr unsigned char kJunk = 0xa5;
    static constexpr unsigned char kFreedJunk = 0x5a;

    // A block as it is handed out, given whether it is zero.
    void fill(void *block, std::size_t size, bool is_zero) const {
        if (junk != 0) std::memset(block, kJunk, size);
        if (zero != 0 && (junk != 0 || !is_zero)) std::memset(block, 0, size);
    }
    void fill_freed(void *block, std::size_t size) const {
        if (junk != 0) std::memset(block, kFreedJunk, size);
    }
};

// One letter adds one to the value, another takes one away.
template <class Options>
struct MallocOption {
    char more;
    char less;
    int Options::*value;
    int least;
    int most;

    constexpr bool is_switch() const { return most == 1; }
};

template <class Options>
class MallocOptionReader {
  public:
    using Table = std::span<const MallocOption<Options>>;

    static constexpr const char *kLink = "/etc/malloc.conf";
    static constexpr const char *kVariable = "MALLOC_OPTIONS";
    static constexpr const char *kString = "_malloc_options";

    MallocOptionReader(Options *options, Table table) : options_(options), table_(table) {}

    void read_all() {
        read_link(kLink);
        read_environment();
        if (&_malloc_options != nullptr && _malloc_options != nullptr) read(_malloc_options, kString);
    }
    void read_link(const char *path) {
        char letters[128];
        const long length = platform::system_call(SYS_readlinkat, AT_FDCWD, path, &letters[0],
                                                  static_cast<std::size_t>(sizeof letters));
        if (length > 0) read({&letters[0], static_cast<std::size_t>(length)}, path);
    }
    void read_environment() {
        if (const char *const letters = platform::variable(kVariable)) read(letters, kVariable);
    }
    // `where` they stand is told with those that are ignored.
    void read(std::string_view letters, std::string_view where) {
        for (const char letter : letters) {
            if (const char *const why = apply(letter)) tell(letter, where, why);
        }
    }

  private:
    // nullptr: done; otherwise why not.
    const char *apply(char letter) {
        for (const MallocOption<Options> &option : table_) {
            if (letter != option.more && letter != option.less) continue;
            int &value = options_->*option.value;
            const int wanted = value + (letter == option.more ? 1 : -1);
            if (wanted >= option.least && wanted <= option.most) {
                value = wanted;
                return nullptr;
            }
            const bool stands_so = option.is_switch() && value == (letter == option.more ? 1 : 0);
            return stands_so ? nullptr : "exceeds the option's bound";
        }
        return "is not an option";
    }
    [[gnu::cold]] void tell(char letter, std::string_view where, const char *why) const {
        TextBuffer<192> line;
        line << "granary: lab: ignoring '" << (letter < ' ' || letter > '~' ? '?' : letter) << "' in " << where
             << ": it " << why << "; the options are ";
        for (const MallocOption<Options> &option : table_) line << option.more;
        line << '\n';
        platform::write_all(2, line.data(), line.size());
    }

    Options *options_;
    Table table_;
};

// X: what a program that never looks at nullptr asks for.
[[noreturn, gnu::cold, gnu::noinline]] inline void die_of_exhaustion(std::size_t size) {
    TextBuffer<160> line;
    line << "granary: lab: no memory for " << size << " bytes; aborting, because of option X\n";
    platform::fatal(line.data(), line.size());
}

}  // namespace gr::lab
