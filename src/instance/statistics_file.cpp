// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance/statistics_file.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/printable.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "platform/public_names.hpp"

namespace gr {
namespace {

constexpr int kStandardError = 2;
// More than all classes of a heap need in any format.
constexpr std::size_t kTextBytes = 128 * kKiB;
static_assert(HeapCount::kRows * 1000 <= kTextBytes, "a row has ten fields of less than 100 bytes");

constexpr std::string_view kPrometheusEnding = ".prom";
constexpr std::string_view kJsonEnding = ".json";

StatisticsFormat format_of(std::string_view path) {
    if (path.ends_with(kPrometheusEnding)) return StatisticsFormat::prometheus;
    return path.ends_with(kJsonEnding) ? StatisticsFormat::json : StatisticsFormat::text;
}

// The part of the path that chooses the format.
std::string_view ending_of(std::string_view path) {
    switch (format_of(path)) {
        case StatisticsFormat::prometheus:
            return kPrometheusEnding;
        case StatisticsFormat::json:
            return kJsonEnding;
        default:
            return {};
    }
}

void put_in_text(void *text, const Text &line) {
    *static_cast<Text *>(text) << std::string_view(line.data(), line.size());
}

}  // namespace

// The file's name, and the name under which it is written first. The second belongs to this library of this process
// only, because several processes may share the first. Several libraries of a process may have libgranary-prefixed.a in
// them, so there an address in the library belongs to the second name.
struct StatisticsFile::Names {
    Names(std::string_view path, const void *in_library) : process(platform::process_id()) {
        const std::string_view ending = ending_of(path);
        put(path.substr(0, path.size() - ending.size()));
        if (platform::is_prefixed()) file << ".prefixed";
        file << ending;
        beside << std::string_view(file.data(), file.size()) << '.' << process;
        if (platform::is_prefixed()) beside << '.' << in_library;
        beside << ".tmp" << '\0';
        file << '\0';
    }
    void put(std::string_view path) {
        while (!path.empty()) {
            const bool is_process = path.starts_with("%p");
            is_process ? file << process : file << path.front();
            path.remove_prefix(is_process ? 2 : 1);
        }
    }
    unsigned process;
    TextBuffer<kPathBytes> file;
    TextBuffer<kPathBytes + 64> beside;
};

void StatisticsFile::begin(const char *path, std::size_t seconds) {
    if (path == nullptr) return;
    if (std::strlen(path) >= kPathBytes) return say_not_written(path, -ENAMETOOLONG);
    std::memcpy(&path_[0], path, std::strlen(path));
    format_ = format_of(path);
    interval_ = seconds * kNanosecondsPerSecond;
}

void StatisticsFile::begin_interval() {
    if (is_wanted()) due_at_ = platform::nanoseconds() + interval_;
}

void StatisticsFile::write_if_due() {
    if (!is_wanted() || platform::nanoseconds() < due_at_) return;
    begin_interval();
    const Names names(&path_[0], this);
    const long error = names.file.truncated() ? -ENAMETOOLONG : write(names);
    if (error != 0) say_not_written(&path_[0], error);
}

// The text is made before the file is opened, so a program that closes all descriptors seldom closes the file's.
long StatisticsFile::write(const Names &names) {
    auto *const room = static_cast<char *>(platform::map(kTextBytes, 1));
    if (room == nullptr) return -ENOMEM;
    Text text(room, kTextBytes);
    const OwnOrigin origin;
    print_statistics(instance, Classes::yes, format_, put_in_text, &text, origin.get());
    // Removes what an ended process may have left there. What another user put there stays, and nothing is written.
    platform::remove_file(names.beside.data());
    const long file = platform::create_file(names.beside.data(), platform::Readers::everybody);
    long error = file < 0 ? file : platform::write_all(static_cast<int>(file), text.data(), text.size());
    if (file >= 0) {
        const long closed = platform::close_file(file);
        if (error == 0) error = closed;
        if (error == 0) error = replace(names);
        if (error != 0) platform::remove_file(names.beside.data());
    }
    platform::unmap(room, kTextBytes);
    return error;
}

long StatisticsFile::replace(const Names &names) {
    const platform::Guard guard(mutex_, kRank);
    if (has_ended_) return platform::remove_file(names.beside.data());
    const long error = platform::rename_file(names.beside.data(), names.file.data());
    if (error == 0) writer_ = names.process;
    return error;
}

void StatisticsFile::end() {
    if (!is_wanted()) return;
    const platform::Guard guard(mutex_, kRank);
    has_ended_ = true;
    if (writer_ != platform::process_id()) return;
    platform::remove_file(Names(&path_[0], this).file.data());
}

// Says it once only. The next interval tries again.
void StatisticsFile::say_not_written(const char *path, long error) {
    if (has_failed_) return;
    has_failed_ = true;
    constexpr std::size_t kMostOfPath = 300;
    TextBuffer<kMostOfPath + 200> line;
    line << "granary: no statistics are written to ";
    for (const char *c = path; *c != '\0' && line.size() < kMostOfPath; ++c) line << *c;
    line << " (error " << static_cast<unsigned long>(-error) << "); set GRANARY_STATS_FILE to a file in a folder that "
         << "can be written to\n";
    platform::write_all(kStandardError, line.data(), line.size());
}

}  // namespace gr
