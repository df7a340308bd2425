// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/module_pieces.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gr::tool {

namespace {

using ByBegin = std::map<std::uint64_t, trace::Module>;

// A piece from there on is one of its own.
void cut(ByBegin *pieces, std::uint64_t address) {
    auto behind = pieces->lower_bound(address);
    if (behind == pieces->begin()) return;
    trace::Module &before = std::prev(behind)->second;
    if (before.end <= address) return;
    trace::Module rest = before;
    rest.offset += address - before.begin;
    rest.begin = address;
    before.end = address;
    pieces->emplace_hint(behind, address, std::move(rest));
}

}  // namespace

ModulePieces::ModulePieces(const trace::Trace &trace) {
    ByBegin pieces;
    for (const trace::ModuleList &list : trace.modules()) {
        for (const trace::Module &module : list.modules) {
            if (module.begin >= module.end) continue;
            cut(&pieces, module.begin);
            cut(&pieces, module.end);
            pieces.erase(pieces.lower_bound(module.begin), pieces.lower_bound(module.end));
            pieces.emplace(module.begin, module);
        }
    }
    for (auto &[begin, module] : pieces) pieces_.push_back(std::move(module));
}

const trace::Module *ModulePieces::at(std::uint64_t address) const {
    const auto behind = std::ranges::upper_bound(pieces_, address, {}, &trace::Module::begin);
    if (behind == pieces_.begin() || address >= std::prev(behind)->end) return nullptr;
    return &*std::prev(behind);
}

}  // namespace gr::tool
