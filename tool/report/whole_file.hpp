// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes a file at once.
// Invariant: whatever happens, under that name lies what lay there before, or all of the new.
// Must not know: what is written.
#pragma once

#include <string>
#include <string_view>

namespace gr::tool {

// Throws Failure.
void write_whole(const std::string &path, std::string_view content);

}  // namespace gr::tool
