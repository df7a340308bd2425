// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/collections/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/picture.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

constexpr double kWidth = 900;  // pixels, of a graph
constexpr double kHeight = 160;
constexpr double kLeft = 90;
constexpr double kTitle = 50;
constexpr double kGap = 40;  // below a graph
constexpr double kProcess = kTitle + 2 * (kHeight + kGap);
constexpr double kMillisecondsPerSecond = 1e3;

constexpr std::string_view kHeld = "#21918c";
constexpr std::string_view kLive = "#3b528b";
constexpr std::string_view kPause = "#b5367a";

// From a process's times and amounts to places on the paper.
struct Scale {
    double top;    // of the graph
    double first;  // seconds
    double span;
    double most;  // what reaches the top

    [[nodiscard]] double x(double at) const { return kLeft + (span > 0 ? (at - first) / span * kWidth : 0); }
    [[nodiscard]] double y(double amount) const { return top + kHeight - (most > 0 ? amount / most * kHeight : 0); }
};

void draw_frame(std::string *svg, const Scale &scale, std::string_view most, std::string_view what) {
    fmt::format_to(std::back_inserter(*svg),
                   "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"none\" stroke=\"{10}\"/>\n"
                   "<text x=\"{4}\" y=\"{5}\" text-anchor=\"end\">{6}</text>\n"
                   "<text x=\"{4}\" y=\"{7}\" text-anchor=\"end\">0</text>\n"
                   "<text x=\"{0}\" y=\"{8}\">{9}</text>\n",
                   kLeft, scale.top, kWidth, kHeight, kLeft - 6, scale.top + 10, most, scale.top + kHeight,
                   scale.top + kHeight + 16, what, kFrame);
}

// A saw: from what was held after one collection to what was held before the next.
void draw_heap(std::string *svg, const std::vector<Collection> &all, const Scale &scale) {
    std::string held;
    std::string live;
    for (const Collection &one : all) {
        const double end = one.began + one.pause;
        fmt::format_to(std::back_inserter(held), "{:.1f},{:.1f} {:.1f},{:.1f} ", scale.x(one.began),
                       scale.y(static_cast<double>(one.held_before)), scale.x(end),
                       scale.y(static_cast<double>(one.held)));
        fmt::format_to(std::back_inserter(live), "{:.1f},{:.1f} ", scale.x(end),
                       scale.y(static_cast<double>(one.live_bytes)));
    }
    fmt::format_to(std::back_inserter(*svg),
                   "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"/>\n"
                   "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                   held, kHeld, live, kLive);
}

void draw_pauses(std::string *svg, const std::vector<Collection> &all, const Scale &scale) {
    for (const Collection &one : all) {
        const double x = scale.x(one.began);
        fmt::format_to(std::back_inserter(*svg),
                       "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" "
                       "stroke-width=\"2\"><title>{4}: {5:.2f} ms, {6} in use, {7} threads stopped</title></line>\n",
                       x, scale.top + kHeight, scale.y(one.longest_stop()), kPause, escape(one.reason),
                       kMillisecondsPerSecond * one.longest_stop(), bytes_text(one.live_bytes), one.threads);
    }
}

void draw_process(std::string *svg, const ProcessCollections &process, double top) {
    const std::vector<Collection> &all = process.collections;
    const double first = all.front().began;
    const double span = all.back().began + all.back().pause - first;
    const auto most_held = std::ranges::max(all, {}, &Collection::held_before).held_before;
    const double longest = std::ranges::max(all, {}, &Collection::longest_stop).longest_stop();
    fmt::format_to(std::back_inserter(*svg),
                   "<text x=\"{}\" y=\"{}\" font-size=\"16\">Process {}: {} collections</text>\n", kLeft, top + 30,
                   process.process, all.size());
    const Scale heap{top + kTitle, first, span, static_cast<double>(most_held)};
    draw_frame(svg, heap, bytes_text(most_held),
               fmt::format("the heap, over {:.2f} s: <tspan fill=\"{}\">held before and after each collection</tspan>, "
                           "<tspan fill=\"{}\">in use after it</tspan>",
                           span, kHeld, kLive));
    draw_heap(svg, all, heap);
    const Scale pauses{top + kTitle + kHeight + kGap, first, span, longest};
    draw_frame(svg, pauses, fmt::format("{:.2f} ms", kMillisecondsPerSecond * longest),
               fmt::format("<tspan fill=\"{}\">duration of each stop</tspan>", kPause));
    draw_pauses(svg, all, pauses);
}

}  // namespace

std::string collections_picture(const std::vector<ProcessCollections> &processes) {
    const auto width = static_cast<std::size_t>(kLeft + kWidth + kLeft / 2);
    std::string svg = empty_sheet(width, static_cast<std::size_t>(kProcess) * processes.size());
    double top = 0;
    for (const ProcessCollections &process : processes) {
        draw_process(&svg, process, top);
        top += kProcess;
    }
    return svg + "</svg>\n";
}

}  // namespace gr::tool
