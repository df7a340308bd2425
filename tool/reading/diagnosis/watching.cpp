// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/diagnosis/watching.hpp"

#include <optional>
#include <string_view>

namespace gr::tool {

namespace {

// What a finding begins with: what the program is, without what follows for Granary's malloc.
std::string subject_of(const Finding &finding) { return finding.text.substr(0, finding.text.find(": ")); }

// What a finding means for a program that is watched; none: nothing.
std::optional<Finding> concerning(const Finding &finding, Served served) {
    const std::string_view kind = finding.kind;
    const bool stops = finding.weight == Weight::stops;
    Finding found = finding;
    const auto sees_less = [&](std::string_view text) {
        found.weight = Weight::limits;
        found.text = subject_of(finding) + ": " + std::string(text);
        return found;
    };
    if (kind == "static" || kind == "static-pie") {
        found.text = std::string(kind) + ": it has no loader that could preload a library";
        return found;
    }
    if (kind == "linked-allocator" && served == Served::as_ever) {
        // Functions that only ask about blocks are of no interest; those that make blocks are not seen.
        if (!stops) return std::nullopt;
        return sees_less("blocks that the program gets from that allocator's own functions are not seen");
    }
    if (kind == "linked-allocator" && !stops) return std::nullopt;
    if (kind == "bundled-allocator")
        return sees_less("what that allocator's own functions allocate is not seen, only calls of malloc are");
    if (kind == "own-malloc" && !stops)
        return sees_less("what the program itself allocates is not seen, only what its libraries allocate is");
    if (kind == "go") return sees_less("Go has a heap of its own; only what its C code allocates is seen");
    return found;
}

}  // namespace

Watching watching_of(const Diagnosis &diagnosis, Served served) {
    Watching watching;
    for (const Finding &finding : diagnosis.findings) {
        if (finding.weight == Weight::note || finding.kind == "not-executable") continue;
        const std::optional<Finding> found = concerning(finding, served);
        if (!found) continue;
        if (found->weight == Weight::stops) return {false, found->text};
        if (watching.text.empty()) watching.text = found->text;
    }
    return watching;
}

}  // namespace gr::tool
