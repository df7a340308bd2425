// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a note on the recorded files that are missing or have another build id, so that functions have no names.
// Invariant: one line, that names a few of the files and what to do.
// Must not know: how names are found.
#pragma once

#include <map>
#include <string>

#include "reading/symbols/file_search.hpp"

namespace gr::tool {

// "": there is none.
[[nodiscard]] std::string unread_note(const std::map<std::string, FileState> &unread);

}  // namespace gr::tool
