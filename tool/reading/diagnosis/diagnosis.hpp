// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is found about a program or a process: findings, and the verdict that follows from the heaviest of them.
// Invariant: the verdict is computed, never set.
// Must not know: how anything is found or shown.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::tool {

enum class Weight {
    note,    // good to know
    limits,  // runs, but not wholly on Granary
    stops,   // does not run on Granary
};

struct Finding {
    Weight weight;
    std::string kind;  // for programs: "static", "set-uid", ...
    std::string text;  // for people: why, and what to do
};

enum class Verdict { yes, partly, no };

struct Diagnosis {
    std::string subject;  // as it was asked for
    std::string path;     // the file that was judged
    std::optional<int> process;
    std::string success;  // what a yes means
    std::vector<Finding> findings;

    void add(Weight weight, std::string kind, std::string text) {
        findings.push_back({weight, std::move(kind), std::move(text)});
    }

    // The first of the heaviest findings; null when there are notes at most.
    [[nodiscard]] const Finding *reason() const {
        const Finding *heaviest = nullptr;
        for (const Finding &finding : findings) {
            if (finding.weight == Weight::note) continue;
            if (heaviest == nullptr || finding.weight > heaviest->weight) heaviest = &finding;
        }
        return heaviest;
    }

    [[nodiscard]] Verdict verdict() const {
        const Finding *heaviest = reason();
        if (heaviest == nullptr) return Verdict::yes;
        return heaviest->weight == Weight::stops ? Verdict::no : Verdict::partly;
    }

    [[nodiscard]] const std::string &summary() const {
        const Finding *heaviest = reason();
        return heaviest == nullptr ? success : heaviest->text;
    }
};

}  // namespace gr::tool
