// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a report's document for the terminal: facts, notes, and each section's question, answer and tables.
// Invariant: no control character goes out; lines of text are at most 100 letters wide.
// Must not know: traces.
#pragma once

#include <string>

#include "reporting/document/document.hpp"

namespace gr::tool {

// Long names in tables are cut unless they are to be whole; then a line may be as wide as a name.
[[nodiscard]] std::string to_text(const Document &document, bool has_whole_names = false);

}  // namespace gr::tool
