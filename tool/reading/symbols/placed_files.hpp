// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the files with code of a recorded program, each at one place for those who look for names: a program may load a
//    file several times, at several places.
// Invariant: no file lies over another. Only a program that cannot be moved keeps its addresses.
// Must not know: the names.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/process/code_module.hpp"
#include "reading/symbols/file_search.hpp"
#include "reading/trace/contents.hpp"

namespace gr::tool {

class PlacedFiles {
  public:
    // Of pieces as ModulePieces has them.
    PlacedFiles(const std::vector<trace::Module> &pieces, ModuleFiles *found, std::uint64_t page_bytes);

    [[nodiscard]] const std::vector<CodeModule> &modules() const { return modules_; }
    // Where code lies that the program had at `address`, in the piece of that index.
    [[nodiscard]] std::uint64_t place_of(std::uint64_t address, std::size_t piece) const {
        return address + moved_by_[piece];
    }

  private:
    std::vector<CodeModule> modules_;
    std::vector<std::uint64_t> moved_by_;  // of each piece, modulo 2^64
};

}  // namespace gr::tool
