// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which file lay where in a recorded program, of all the moments at which its trace tells.
// Invariant: by begin; none lies over another: where two did at different times, there is the later one.
// Must not know: what the files say.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/reader.hpp"

namespace gr::tool {

class ModulePieces {
  public:
    explicit ModulePieces(const trace::Trace &trace);

    [[nodiscard]] const std::vector<trace::Module> &all() const { return pieces_; }
    // nullptr: there is none.
    [[nodiscard]] const trace::Module *at(std::uint64_t address) const;

  private:
    std::vector<trace::Module> pieces_;
};

}  // namespace gr::tool
