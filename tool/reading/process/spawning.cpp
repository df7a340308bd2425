// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/spawning.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace gr::tool {

std::vector<char *> pointers_to(const std::vector<std::string> &words) {
    std::vector<char *> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string &word : words) pointers.push_back(const_cast<char *>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::string read_all(int file) {
    std::string result;
    std::array<char, 4096> part{};
    for (;;) {
        const ssize_t count = ::read(file, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        result.append(part.data(), static_cast<std::size_t>(count));
    }
    ::close(file);
    return result;
}

}  // namespace gr::tool
