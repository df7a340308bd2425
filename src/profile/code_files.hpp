// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: lists the files whose code is mapped into the process, with their build ids.
// Invariant: takes no memory and no lock of libc. A file that is unmapped meanwhile is listed without a build id.
// Must not know: what the list is for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr {

struct CodeFile {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uintptr_t offset = 0;  // of `begin` in the file
    const char *path = nullptr;
    const char *build_id = nullptr;  // in hexadecimal; empty if there is none
};

class CodeFiles {
  public:
    // Too large for a signal handler's stack, so the caller provides it.
    struct Room {
        char text[12 * 1024];  // a line, and the text behind it that was read, too
        char build_id[2 * 64 + 1];
    };

    explicit CodeFiles(Room *room);
    ~CodeFiles();
    CodeFiles(const CodeFiles &) = delete;
    CodeFiles &operator=(const CodeFiles &) = delete;

    // false: there is no further file. The strings of *out are valid until the next call.
    [[gnu::cold]] bool next(CodeFile *out);

  private:
    struct Line {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        std::uintptr_t offset = 0;
        std::uintptr_t file = 0;  // one number for each file
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
    std::uintptr_t base_ = 0;          // where the first bytes of the file listed last are mapped
    std::uintptr_t file_of_base_ = 0;  // the number of that file
};

}  // namespace gr
