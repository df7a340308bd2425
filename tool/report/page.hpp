// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page that shows a document: the built one that this command carries (view/), with the document in it.
// Invariant: the page stays as it was built but for the element "document".
// Must not know: what the document tells.
#pragma once

#include <string>
#include <string_view>

namespace gr::tool {

[[nodiscard]] std::string page_of(std::string_view document);

}  // namespace gr::tool
