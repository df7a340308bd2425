// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/source_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "reporting/document/words.hpp"

namespace gr::tool {

void SourceLines::add_to(Frame *frame, const std::set<int> &calls) {
    const SourceFolder::File *const file = folder_.file(frame->file);
    if (file == nullptr) return;
    const int last = static_cast<int>(std::min<std::size_t>(file->lines.size(), INT32_MAX));
    std::vector<Frame::SourceLine> lines;
    std::size_t bytes = 0;
    std::size_t shown = 0;
    int next = 1;
    for (const int call : calls) {
        if (call < 1 || call > last || shown++ == kMostCalls) continue;
        for (int line = std::max(next, call - kAround); line <= std::min(last, call + kAround); ++line) {
            const std::string &text = file->lines[static_cast<std::size_t>(line) - 1];
            lines.push_back({line, text, calls.contains(line)});
            bytes += text.size();
            next = line + 1;
        }
    }
    if (lines.empty()) return;
    if (bytes_ + bytes > kMostBytes) {
        ++without_room_;
        return;
    }
    bytes_ += bytes;
    if (files_.insert(frame->file).second) changed_.push_back(file->changed);
    frame->source = std::move(lines);
}

std::vector<std::string> SourceLines::notes(std::int64_t began_nanoseconds) const {
    const auto words = [](std::size_t count, const char *one, const char *several) {
        return count_words(static_cast<double>(count), one, several);
    };
    std::vector<std::string> notes;
    if (files_.empty()) return {"No source file of the program was found below the folder that --sources names."};
    notes.push_back(fmt::format("This page contains lines of {} of the program.",
                                words(files_.size(), "source file", "source files")));
    const auto began = std::chrono::file_clock::from_sys(
        std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(began_nanoseconds)));
    const auto later =
        static_cast<std::size_t>(std::ranges::count_if(changed_, [&](const auto &changed) { return changed > began; }));
    if (later != 0)
        notes.push_back(fmt::format("{} changed after the recording: the lines may be others.",
                                    words(later, "source file was", "source files were")));
    if (without_room_ != 0)
        notes.push_back(fmt::format("The source lines of {} are left out, to keep the page small.",
                                    words(without_room_, "function", "functions")));
    return notes;
}

}  // namespace gr::tool
