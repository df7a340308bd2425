// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what pictures share: the sheet that they are drawn on, and how they are written.
// Invariant: every colour stands where it is used, for viewers without style sheets; where it is dark, paper and ink
//    change places.
// Must not know: what is drawn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gr::tool {

inline constexpr std::string_view kPaper = "#ffffff";
inline constexpr std::string_view kInk = "#202020";
inline constexpr std::string_view kFrame = "#808080";

// Of so many pixels; what is drawn and "</svg>" follow.
[[nodiscard]] std::string empty_sheet(std::size_t width, std::size_t height);

// Control characters and what SVG means something by.
[[nodiscard]] std::string escape(std::string_view text);

// Throws Failure when the file cannot be written.
void write_picture(const std::string &picture, const std::string &path);

}  // namespace gr::tool
