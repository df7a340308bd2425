// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions that a trace's stacks call, by name and file, as far as the program's files still tell; and of each
//    stack the function that wanted the memory.
// Invariant: a function has one number, whichever of its lines calls. So have all functions of a file of which no name is
//    known, unless a user tells them apart by address.
// Must not know: what was allocated there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/symbols/brief_names.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/symbols/library_code.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

// How functions are told apart and shown, as a user may choose.
struct Naming {
    std::vector<std::string> wrappers;  // more of the library's own code: LibraryCode
    bool lines = false;                 // a function's calls by line are calls of their own
    bool addresses = false;             // functions without a name are told apart by address
    bool whole_names = false;           // with the arguments of templates
    std::string sources;                // a folder whose source files may be shown; empty: none
};

class CallSites {
  public:
    // What the calls are found to be stays with them, for others.
    CallSites(const trace::Trace &trace, Calls &calls, const Naming &naming)
        : stacks_(trace.stacks()),
          calls_(calls),
          library_(naming.wrappers),
          has_lines_(naming.lines),
          has_addresses_(naming.addresses),
          has_whole_names_(naming.whole_names) {}

    // The numbers in frames() of the functions that go on where one returns to: one, and those that the compiler put into it;
    // at least one, the outermost first.
    [[nodiscard]] const std::vector<std::uint32_t> &frames_of(std::uint64_t address);
    [[nodiscard]] const std::vector<Frame> &frames() const { return frames_; }
    // Whether the number stands for all functions of a file of which no name is known.
    [[nodiscard]] bool is_of_many(std::uint32_t frame) const { return of_many_[frame]; }
    // Of each of frames() the lines from which it calls.
    [[nodiscard]] const std::vector<std::set<int>> &lines() const { return lines_; }
    [[nodiscard]] const std::vector<trace::StackNode> &stacks() const { return stacks_; }
    // The innermost function of a stack outside of the library's own code; where none is, the innermost that does more than
    // allocate.
    struct Site {
        std::optional<std::uint32_t> frame;  // its number in frames(); none: no stack was taken
        std::string function;                // "f (a.cpp)"
        std::string path;                    // the calls from there on: "f (a.cpp:3) < g < b.so+0x10"
    };
    [[nodiscard]] Site site(trace::StackNumber stack);
    // Site::function.
    [[nodiscard]] std::string caller_text(trace::StackNumber stack);
    // Site::path.
    [[nodiscard]] std::string text(trace::StackNumber stack);

  private:
    [[nodiscard]] std::uint32_t frame_of(const Call &call);
    // The brief name, but where functions of the trace that differ have the same one. Of a call that is not known, the
    // name that it has in common with others of its file, or its place.
    [[nodiscard]] const std::string &name_of(const Call &call);
    void add_brief_names();
    [[nodiscard]] std::string text_of(const Call &call);
    [[nodiscard]] std::string path_text(const std::vector<const Call *> &calls, std::size_t caller);

    const std::vector<trace::StackNode> &stacks_;
    Calls &calls_;
    LibraryCode library_;
    bool has_lines_;
    bool has_addresses_;
    bool has_whole_names_;
    BriefNames brief_names_;  // of all stacks, once they are asked for
    std::vector<Frame> frames_;
    std::vector<std::set<int>> lines_;
    std::vector<bool> of_many_;  // by number in frames_
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_address_;
    std::map<std::string, std::uint32_t> by_text_;
};

}  // namespace gr::tool
