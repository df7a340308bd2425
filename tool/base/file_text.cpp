// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/file_text.hpp"

#include <fstream>
#include <sstream>
#include <utility>

namespace gr::tool {

// An iterator over the file's buffer would pass on that reading failed.
std::string file_text(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

}  // namespace gr::tool
