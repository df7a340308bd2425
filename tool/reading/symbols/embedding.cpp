// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/embedding.hpp"

#include <set>
#include <utility>
#include <vector>

#include "reading/symbols/calls.hpp"
#include "reading/trace/named_copy.hpp"

namespace gr::tool {

namespace {

trace::NamedPlace place_of(const trace::Module &module, std::uint64_t address, const std::vector<Call> &calls) {
    trace::NamedPlace place{module.path, module.build_id, address - module.begin + module.offset, {}};
    for (const Call &call : calls)
        place.calls.push_back({call.function, call.file, static_cast<std::uint32_t>(call.line)});
    return place;
}

}  // namespace

// Places of one file stand together, by offset: so they are small.
Embedded embed_names(const trace::Trace &trace, const FileSearch &search, const std::string &path) {
    Calls calls(trace, search, Names::of_files);
    std::set<std::uint64_t> addresses;
    for (std::size_t i = 1; i < trace.stacks().size(); ++i) addresses.insert(trace.stacks()[i].address);
    Embedded embedded;
    std::vector<trace::NamedPlace> places;
    for (const std::uint64_t address : addresses) {
        if (address >= trace::kFirstPlace) break;  // the trace has their names
        embedded.places += 1;
        const trace::Module *const module = calls.modules().at(address - 1);
        const std::vector<Call> &here = calls.at(address);
        if (module == nullptr || !here.front().is_known) continue;
        embedded.named += 1;
        places.push_back(place_of(*module, address, here));
    }
    write_named(trace, places, path);
    embedded.unread = calls.unread();
    return embedded;
}

}  // namespace gr::tool
