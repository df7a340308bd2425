// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the pages that show a document, a report's or a lab allocator's: the built one that this command carries
//    (view/), with the document in it, or asking a server for it.
// Invariant: a page stays as it was built but for the element "document", or for what its policy lets it connect to.
// Must not know: what the document tells.
#pragma once

#include <string>
#include <string_view>

namespace gr::tool {

[[nodiscard]] std::string page_of(std::string_view document);
// The page of granary lab show.
[[nodiscard]] std::string lab_page_of(std::string_view document);
// It asks whoever serves it.
[[nodiscard]] std::string page_to_serve();

}  // namespace gr::tool
