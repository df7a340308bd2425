// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: from addresses of code in another process to functions, files and lines, by the symbols and the debug
//    information of its files.
// Invariant: what a file does not say is empty; a file that is not the one that was loaded says nothing.
// Must not know: why it is asked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reading/process/code_module.hpp"

namespace gr::tool {

struct CodePlace {
    std::uint64_t address = 0;
    std::string function;  // as the linker has it
    std::string file;      // of the source
    int line = 0;
    std::string module;  // the file that was loaded
};

class CodePlaces {
  public:
    // Debug information is looked for in these folders, in the form of elfutils ("FOLDER:.debug"); empty: where elfutils
    // looks by itself.
    explicit CodePlaces(const std::vector<CodeModule> &modules, const std::string &debug_path = "");
    ~CodePlaces();
    CodePlaces(const CodePlaces &) = delete;
    CodePlaces &operator=(const CodePlaces &) = delete;

    // Of the call that goes on there.
    [[nodiscard]] const CodePlace &of_call(std::uint64_t address);
    // That one, taken apart: the function whose code it is, and those that the compiler put there, each called by the one
    // before.
    [[nodiscard]] const std::vector<CodePlace> &all_of_call(std::uint64_t address);

  private:
    struct Module;
    struct Session;
    struct Known {
        CodePlace place;
        Module *module = nullptr;    // that tells of it; else none does
        std::vector<CodePlace> all;  // empty: not asked for yet
    };

    Known &known(std::uint64_t address);
    void look_up(std::uint64_t address, Known *known) const;

    std::unique_ptr<Session> session_;
    std::vector<CodeModule> modules_;
    std::map<std::uint64_t, Known> known_;
};

}  // namespace gr::tool
