// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the names that lie in a trace itself, by place in a file of code.
// Invariant: one list of calls for each place, however often it was loaded. Calls stay where they are.
// Must not know: files of this machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reading/symbols/call.hpp"
#include "reading/trace/contents.hpp"

namespace gr::tool {

class EmbeddedNames {
  public:
    explicit EmbeddedNames(const trace::Symbols &symbols);

    // The outermost first; nullptr: the place has no name. The offset is that of the address behind the call.
    [[nodiscard]] const std::vector<Call> *at(const trace::Module &module, std::uint64_t offset);

  private:
    [[nodiscard]] std::vector<Call> calls_of(const trace::Symbols::Place &place) const;

    const trace::Symbols &symbols_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> files_;       // by path and build id
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> places_;  // by file and offset
    std::map<std::uint32_t, std::vector<Call>> known_;                         // by place
};

}  // namespace gr::tool
