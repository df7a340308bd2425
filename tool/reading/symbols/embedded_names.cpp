// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/embedded_names.hpp"

#include "base/text.hpp"
#include "reading/symbols/function_name.hpp"

namespace gr::tool {

// Chunks have tables of their own, so a file may be there more than once.
EmbeddedNames::EmbeddedNames(const trace::Symbols &symbols) : symbols_(symbols) {
    std::vector<std::uint32_t> number_of;
    for (const trace::Symbols::File &file : symbols.files) {
        const auto next = static_cast<std::uint32_t>(files_.size());
        const auto at = files_.try_emplace({symbols.texts[file.path], symbols.texts[file.build_id]}, next).first;
        number_of.push_back(at->second);
    }
    for (std::uint32_t i = 0; i < symbols.places.size(); ++i) {
        const trace::Symbols::Place &place = symbols.places[i];
        places_.try_emplace({number_of[place.file], place.offset}, i);
    }
}

const std::vector<Call> *EmbeddedNames::at(const trace::Module &module, std::uint64_t offset) {
    const auto file = files_.find({module.path, module.build_id});
    if (file == files_.end()) return nullptr;
    const auto place = places_.find({file->second, offset});
    if (place == places_.end()) return nullptr;
    const auto [at, is_new] = known_.try_emplace(place->second);
    if (is_new) at->second = calls_of(symbols_.places[place->second]);
    return &at->second;
}

std::vector<Call> EmbeddedNames::calls_of(const trace::Symbols::Place &place) const {
    const std::string &path = symbols_.texts[symbols_.files[place.file].path];
    const std::string module = printable(path.substr(path.rfind('/') + 1));
    std::vector<Call> calls;
    for (std::uint32_t i = 0; i < place.calls; ++i) {
        const trace::Symbols::Call &call = symbols_.calls[place.first_call + i];
        const std::string &told = symbols_.texts[call.function];
        const std::string function = told.empty() ? unknown_function(module) : printable(told);
        calls.push_back({function, brief(function), printable(symbols_.texts[call.file]), static_cast<int>(call.line),
                         module, "", !told.empty()});
    }
    return calls;
}

}  // namespace gr::tool
