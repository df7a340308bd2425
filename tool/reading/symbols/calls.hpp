// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the calls of a trace's stacks by name: functions with those that the compiler put into them, files and lines,
//    by the names that lie in the trace, or as far as the program's files still tell.
// Invariant: each call has a name that is fit to be shown. Where no name is known, it tells the file.
// Must not know: what was allocated there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/process/code_places.hpp"
#include "reading/symbols/call.hpp"
#include "reading/symbols/embedded_names.hpp"
#include "reading/symbols/file_search.hpp"
#include "reading/symbols/module_pieces.hpp"
#include "reading/symbols/placed_files.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

// Which names count where a trace and the program's files both have some.
enum class Names { of_trace, of_files };

class Calls {
  public:
    explicit Calls(const trace::Trace &trace, FileSearch search = {}, Names preferred = Names::of_trace);

    // The calls that go on where an address says that one returns to: at least one, the outermost first.
    [[nodiscard]] const std::vector<Call> &at(std::uint64_t address);
    // All of a stack, the outermost first; none: kNone.
    [[nodiscard]] std::vector<const Call *> of(trace::StackNumber stack);
    [[nodiscard]] const ModulePieces &modules() const { return pieces_; }
    // The files, by path, that addresses lie in and that say nothing of them.
    [[nodiscard]] const std::map<std::string, FileState> &unread() const { return unread_; }

  private:
    // The call at the address as it is without a name.
    [[nodiscard]] Call unknown(std::uint64_t address) const;
    [[nodiscard]] const std::vector<Call> *in_trace(std::uint64_t address);
    [[nodiscard]] const std::vector<Call> &in_files(std::uint64_t address);
    [[nodiscard]] Call at_place(std::uint64_t address) const;
    [[nodiscard]] Call in_no_file(std::uint64_t address) const;

    const trace::StackNames &names_;
    const std::vector<trace::StackNode> &stacks_;
    ModulePieces pieces_;
    EmbeddedNames embedded_;
    ModuleFiles files_;
    PlacedFiles placed_;
    CodePlaces places_;
    Names preferred_;
    std::unordered_map<std::uint64_t, const std::vector<Call> *> known_;
    std::unordered_map<std::uint64_t, std::vector<Call>> in_files_;
    std::map<std::string, FileState> unread_;
};

}  // namespace gr::tool
