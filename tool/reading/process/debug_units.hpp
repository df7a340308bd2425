// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the compilation units of a loaded file's debug information, found by addresses of code: source lines and the
//    entries of functions.
// Invariant: each unit's own ranges say which code it describes, because not every compiler writes a table of them
//    (.debug_aranges). Of a split unit the description comes from its .dwo file where elfutils finds the file. A unit's
//    functions are collected when its first address is asked for.
// Must not know: what the entries are read for.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>
#include <vector>

namespace gr::tool {

struct SourceLine {
    std::string file;  // empty: not known
    int line = 0;
};

// One compilation unit. Addresses are those of the debug information.
class DebugUnit {
  public:
    explicit DebugUnit(Dwarf_Die unit) : unit_(unit) {}

    [[nodiscard]] SourceLine line_at(Dwarf_Addr address);
    // The function whose code lies there; nullptr: none is described.
    [[nodiscard]] Dwarf_Die *function_at(Dwarf_Addr address);
    // The entry that describes the unit itself.
    [[nodiscard]] Dwarf_Die *description();

  private:
    struct Function {
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        Dwarf_Die entry{};
    };

    void collect_functions();

    Dwarf_Die unit_;           // has the line table; of a split unit the skeleton
    Dwarf_Die description_{};  // of a split unit the one in the other file
    bool is_collected_ = false;
    std::vector<Function> functions_;  // by begin
};

class DebugUnits {
  public:
    // Reads the heads of all units.
    explicit DebugUnits(Dwfl_Module *module);

    // nullptr: no unit describes the code there.
    [[nodiscard]] DebugUnit *at(Dwarf_Addr loaded);
    // From an address in the process to one of the debug information.
    [[nodiscard]] Dwarf_Addr in_file(Dwarf_Addr loaded) const { return loaded - bias_; }

  private:
    struct Range {
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        std::size_t unit = 0;
    };

    Dwarf_Addr bias_ = 0;
    std::vector<DebugUnit> units_;
    std::vector<Range> ranges_;  // by begin
};

}  // namespace gr::tool
