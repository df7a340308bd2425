// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a report's document as JSON, as view/src/document.ts says.
// Invariant: valid JSON whatever text is in it; what is not a number is null.
// Must not know: where the text goes.
#pragma once

#include <string>

#include "reporting/document/document.hpp"

namespace gr::tool {

[[nodiscard]] std::string to_json(const Document &document);

}  // namespace gr::tool
