// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: unread_files.hpp.
// Invariant: as there.
// Must not know: how names are found.
#include "reporting/charts/unread_files.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "reporting/document/words.hpp"

namespace gr::tool {

std::string unread_note(const std::map<std::string, FileState> &unread) {
    constexpr std::size_t kMost = 3;
    std::string files;
    std::size_t told = 0;
    for (const auto &[path, state] : unread) {
        if (++told > kMost) break;
        files += (files.empty() ? "" : ", ") + unread_text(path, state);
    }
    if (files.empty()) return {};
    if (unread.size() > kMost)
        files += fmt::format(", and {} more", count_words(static_cast<double>(unread.size() - kMost), "file", "files"));
    return fmt::format("Some functions have no names: {}. `granary symbolize` looks for such files elsewhere.", files);
}

}  // namespace gr::tool
