// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of a loaded file, by address: elfutils looks through all symbols for each address.
// Invariant: ranges by begin, none over another. Of several names for the same code there is the most public one, of
//    functions in each other the inner one.
// Must not know: why it is asked.
#pragma once

#include <elfutils/libdwfl.h>

#include <vector>

namespace gr::tool {

class FunctionTable {
  public:
    explicit FunctionTable(Dwfl_Module *module);

    // The name in the file; nullptr: none lies there. Lives as long as the module.
    [[nodiscard]] const char *at(Dwarf_Addr address) const;

  private:
    struct Function {
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        const char *name = nullptr;
    };
    struct Symbol : Function {
        Dwarf_Addr end_of_section = 0;
        int rank = 0;
    };

    static std::vector<Symbol> code_symbols(Dwfl_Module *module);
    void lay_out(const std::vector<Symbol> &symbols);

    std::vector<Function> functions_;
};

}  // namespace gr::tool
