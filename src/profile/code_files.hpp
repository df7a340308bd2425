// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the files whose code is mapped into the process, with their build ids, as the kernel tells them.
// Invariant: takes no memory and no lock of libc's; what is unmapped meanwhile is told without a build id.
// Must not know: who asks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr {

struct CodeFile {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uintptr_t offset = 0;  // in the file, of the begin
    const char *path = nullptr;
    const char *build_id = nullptr;  // in hexadecimal; empty: none
};

class CodeFiles {
  public:
    // Too large for a signal's stack: its owner has it elsewhere.
    struct Room {
        char text[12 * 1024];  // a line, and what follows it
        char build_id[2 * 64 + 1];
    };

    explicit CodeFiles(Room *room);
    ~CodeFiles();
    CodeFiles(const CodeFiles &) = delete;
    CodeFiles &operator=(const CodeFiles &) = delete;

    // false: that was the last. What it points to stays until the next.
    [[gnu::cold]] bool next(CodeFile *out);

  private:
    struct Line {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        std::uintptr_t offset = 0;
        std::uintptr_t file = 0;  // one number for each
        bool is_code = false;
        const char *path = nullptr;
    };

    const char *next_line();
    static bool parse(const char *text, Line *line);
    [[gnu::cold]] void find_build_id(std::uintptr_t base);

    Room *room_;
    long file_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::uintptr_t base_ = 0;  // where the last begin of a file lies, and of which
    std::uintptr_t file_of_base_ = 0;
};

}  // namespace gr
