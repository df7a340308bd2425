// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/collection_log.hpp"

#include <cstring>

#include "base/text.hpp"
#include "platform/events.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kLineBytes = 1024;
constexpr int kStandardError = 2;
constexpr const char *kReasons[] = {"asked", "due", "refused"};

void put_beside(Text &line, const CollectionReport &report) {
    line << ",\"beside_ns\":" << report.beside_nanoseconds << ",\"root_pauses_ns\":";
    char before = '[';
    for (const std::uint64_t stop : report.root_stops_nanoseconds) {
        if (stop == 0) break;
        line << before << stop;
        before = ',';
    }
    line << ']';
}

// In the counted build: what was counted since the process began.
void put_events(Text &line) {
    using platform::Event;
    line << ",\"locks\":" << platform::counted(Event::lock) << ",\"waits\":" << platform::counted(Event::wait)
         << ",\"blocks_marked_twice\":" << platform::counted(Event::block_marked_twice)
         << ",\"work_given\":" << platform::counted(Event::work_given)
         << ",\"stacks_outgrown\":" << platform::counted(Event::stack_outgrown);
}

void put(Text &line, const CollectionReport &report) {
    line << "{\"process\":" << platform::process_id() << ",\"collection\":" << report.number << ",\"reason\":\""
         << kReasons[static_cast<std::size_t>(report.reason)] << "\",\"began_ns\":" << report.began
         << ",\"pause_ns\":" << report.stopped_nanoseconds << ",\"stopping_ns\":" << report.stopping_nanoseconds
         << ",\"marking_ns\":" << report.marking_nanoseconds << ",\"sweeping_ns\":" << report.sweeping_nanoseconds
         << ",\"threads\":" << report.threads << ",\"held_before\":" << report.held_before
         << ",\"held\":" << report.held << ",\"live_bytes\":" << report.live_bytes
         << ",\"live_blocks\":" << report.live_blocks << ",\"freed_blocks\":" << report.freed_blocks;
    if (report.beside_nanoseconds != 0) put_beside(line, report);
    if (kCounted) put_events(line);
    line << "}\n";
}

}  // namespace

void CollectionLog::initialise(const char *path) {
    if (path == nullptr) return;
    const std::size_t bytes = std::strlen(path) + 1;
    if (bytes > sizeof path_) return give_up(path, "the path is too long");
    std::memcpy(&path_[0], path, bytes);
}

void CollectionLog::tell(const CollectionReport &report) {
    if (path_[0] == '\0') return;
    TextBuffer<kLineBytes> line;
    put(line, report);
    if (!platform::append_to_file(&path_[0], line.data(), line.size()))
        give_up(&path_[0], "the file cannot be written");
}

void CollectionLog::give_up(const char *path, const char *what) {
    TextBuffer<kPathBytes + 200> line;
    line << "granary: collections are not logged (GRANARY_COLLECTIONS): " << what << ": " << path << '\n';
    platform::write_all(kStandardError, line.data(), line.size());
    path_[0] = '\0';
}

}  // namespace gr
