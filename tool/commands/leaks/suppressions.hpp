// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: leaks that are known and shall not be told: patterns of functions, sources and files, one a line.
// Invariant: a line is empty, a comment (#), or leak:PATTERN, as LeakSanitizer has them; * stands for anything, ^ and $
//    for the two ends, and without them a part is enough.
// Must not know: how leaks are found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gr::tool {

class Suppressions {
  public:
    // Adds those of the file. Throws Failure.
    void read(const std::string &path);
    // Whether one fits the text.
    [[nodiscard]] bool fit(std::string_view text) const;

  private:
    std::vector<std::string> patterns_;
};

}  // namespace gr::tool
