// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the calls of a trace's stacks by name: functions with those that the compiler put into them, files and lines,
//    as far as the program's files still tell.
// Invariant: each call has a name that is fit to be shown: what is not known is its file and the offset in it, or its
//    address.
// Must not know: what was allocated there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/process/code_places.hpp"
#include "reading/symbols/module_pieces.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

struct Call {
    std::string function;
    std::string file;  // of the source; empty: not known
    int line = 0;
    std::string module;     // the file that was loaded, without its folder; empty: not known
    bool is_known = false;  // the function has a name of its own

    bool operator==(const Call &) const = default;
};

class Calls {
  public:
    explicit Calls(const trace::Trace &trace);

    // The calls that go on where an address says that one returns to: at least one, the outermost first.
    [[nodiscard]] const std::vector<Call> &at(std::uint64_t address);
    // All of a stack, the outermost first; none: kNone.
    [[nodiscard]] std::vector<const Call *> of(trace::StackNumber stack);
    [[nodiscard]] const ModulePieces &modules() const { return pieces_; }

  private:
    [[nodiscard]] std::string unknown(std::uint64_t address) const;

    const std::vector<trace::StackNode> &stacks_;
    ModulePieces pieces_;
    CodePlaces places_;
    std::unordered_map<std::uint64_t, std::vector<Call>> known_;
};

}  // namespace gr::tool
