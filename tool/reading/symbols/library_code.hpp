// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which calls belong to the standard library's and the allocator's own code: memory is asked for through them, and
//    the function that wanted it lies further out.
// Invariant: a call is the library's by the file that was loaded, by its source or by its qualified name, never by its template arguments: a
//    comparison of the program's that std::sort calls is the program's.
//    Answers are kept by the call's address, so calls stay where they are.
// Must not know: what was allocated.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reading/symbols/calls.hpp"

namespace gr::tool {

class LibraryCode {
  public:
    // Patterns of the shell (*, ?, [...]) for more functions, by qualified name, or files, without folder.
    explicit LibraryCode(std::vector<std::string> more = {}) : more_(std::move(more)) {}

    [[nodiscard]] bool has(const Call &call) const;
    // In a stack, the outermost first and not empty: the innermost call outside of the library's own code; where none is, the
    // innermost that does more than allocate; else the outermost.
    [[nodiscard]] std::size_t caller(const std::vector<const Call *> &calls) const;
    // malloc, operator new and their like, which each call site has in common.
    [[nodiscard]] static bool is_allocation(const Call &call);

  private:
    [[nodiscard]] bool finds(const Call &call) const;

    mutable std::unordered_map<const Call *, bool> known_;
    std::vector<std::string> more_;
};

}  // namespace gr::tool
