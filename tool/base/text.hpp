// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: text for people and for programs: safe to show on a terminal, sizes in words, JSON.
// Invariant: whatever bytes come in (file names and symbol names are anybody's), no control character goes out, and
//    JSON is valid UTF-8.
// Must not know: what the text is about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gr::tool {

// Control characters, those that change the direction of text, and what is no UTF-8, as the \xNN of their bytes;
// everything else as it is.
[[nodiscard]] std::string printable(std::string_view text);

// 'text', printable, for error lines.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "8M", "1.5G"; bytes below 1024 as they are.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

// "8 MiB", "1.5 GiB", "17 bytes".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

// "19,937".
[[nodiscard]] std::string grouped(std::uint64_t number);

// "a, b, c and 4 more".
[[nodiscard]] std::string list_text(const std::vector<std::string> &items, std::size_t shown);

// Writes one JSON value by nested calls; indentation and commas are its own business.
class JsonWriter {
  public:
    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    void key(std::string_view name);
    void text(std::string_view value);
    void number(std::uint64_t value);
    [[nodiscard]] const std::string &result() const noexcept { return result_; }

  private:
    void open(char bracket);
    void close(char bracket);
    void separate();
    void escape(std::string_view value);

    std::string result_;
    int depth_ = 0;
    bool first_ = true;
    bool after_key_ = false;
};

}  // namespace gr::tool
