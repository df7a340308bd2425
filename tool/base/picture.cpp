// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/picture.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

std::string empty_sheet(std::size_t width, std::size_t height) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"12\" fill=\"{2}\" class=\"ink\">\n"
        "<style>@media(prefers-color-scheme:dark){{.paper{{fill:#15171a}}.ink{{fill:#e4e4e2}}}}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"{3}\" class=\"paper\"/>\n",
        width, height, kInk, kPaper);
}

std::string escape(std::string_view text) {
    std::string result;
    for (const char c : printable(text)) {
        if (c == '&') {
            result += "&amp;";
        } else if (c == '<') {
            result += "&lt;";
        } else {
            result += c;
        }
    }
    return result;
}

void write_picture(const std::string &picture, const std::string &path) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << picture;
    file.close();
    if (!file) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot write {}: {}", in_quotes(path), std::generic_category().message(errno)));
    }
}

}  // namespace gr::tool
