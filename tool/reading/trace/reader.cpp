// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reader.hpp.
// Invariant: as there. Every number that comes from the file is compared with what it may be before it is used.
// Must not know: what the events are wanted for.
#include "reading/trace/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/trace/check.hpp"
#include "reading/trace/json.hpp"

namespace gr::trace {

namespace {

using tool::ExitCode;
using tool::Failure;

constexpr std::uint32_t kMostNumberBytes = 10;

template <class T>
T object_in(ByteView bytes) {
    T object;
    if (bytes.size() < sizeof object) throw Damage("a summary is too short");
    std::memcpy(&object, bytes.data(), sizeof object);
    return object;
}

std::string_view text_in(ByteView bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

// How many rows a table may have that says so itself.
void check_rows(std::uint32_t rows) {
    if (rows > kMostRows) throw Damage("a table has too many rows");
}

void check_head(const std::string &path, ByteView bytes) {
    const std::string name = tool::in_quotes(path);
    if (bytes.empty()) throw Failure(ExitCode::not_runnable, fmt::format("{} is empty", name));
    FileHead head;
    if (bytes.size() < sizeof head || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} is not a trace; 'granary record -o FILE PROGRAM' writes one", name));
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.version != kVersion) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} is a trace of version {}, but this granary reads version {}", name, head.version,
                                  kVersion));
    }
}

}  // namespace

Trace::Trace(const std::string &path) : path_(path), file_(path) {
    check_head(path_, file_.bytes());
    read_chunks();
    if (!has_start_) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} ends before anything was recorded", tool::in_quotes(path_)));
    }
    if (damage_.empty() && !end_) {
        damage_ = fmt::format("{} has no end: the last events may be missing", tool::in_quotes(path_));
    }
    complete_threads();
}

void Trace::read_chunks() {
    const ByteView all = file_.bytes();
    std::size_t at = sizeof(FileHead);
    try {
        while (at < all.size()) {
            const ByteView rest = all.subspan(at);
            ChunkHead head;
            if (rest.size() < sizeof head) throw Damage("the file is cut off");
            std::memcpy(&head, rest.data(), sizeof head);
            if (head.summary_bytes > kMostSummaryBytes || head.body_bytes > kMostBodyBytes)
                throw Damage("a chunk is too long");
            if (rest.size() - sizeof head < head.summary_bytes) throw Damage("the file is cut off");
            const ByteView summary = rest.subspan(sizeof head, head.summary_bytes);
            constexpr std::size_t kChecked = sizeof head - sizeof head.head_check;
            if (check_of(check_of(0, rest.first(kChecked)), summary) != head.head_check)
                throw Damage("the checksum of a chunk's head is wrong");
            const ByteView behind = rest.subspan(sizeof head + summary.size());
            if (behind.size() < head.body_bytes) throw Damage("the file is cut off");
            take(ChunkKind{head.kind}, head, summary, behind.first(head.body_bytes));
            at += sizeof head + summary.size() + head.body_bytes;
        }
    } catch (const Damage &damage) {
        damage_ = fmt::format("{} is damaged at byte {} of {}: {}; only the part before is used",
                              tool::in_quotes(path_), at, all.size(), damage.what());
    }
}

void Trace::take(ChunkKind kind, const ChunkHead &head, ByteView summary, ByteView body) {
    if (kind == ChunkKind::events) {
        EventBlock block{object_in<EventsSummary>(summary), body, head.body_check};
        if (block.summary.events > kMostEvents || block.summary.first_time > block.summary.last_time)
            throw Damage("a block of events contradicts its summary");
        events_ += block.summary.events;
        lost_ += block.summary.lost;
        note(Time{block.summary.last_time});
        blocks_.push_back(block);
        return;
    }
    if (check_of(0, body) != head.body_check) throw Damage("the checksum of a chunk is wrong");
    switch (kind) {
        case ChunkKind::start:
            from_json(text_in(body), &start_);
            has_start_ = true;
            break;
        case ChunkKind::stacks:
            take_stacks(summary, body);
            break;
        case ChunkKind::threads:
            from_json(text_in(body), &threads_);
            break;
        case ChunkKind::modules:
            from_json(text_in(body), &modules_);
            break;
        case ChunkKind::marks:
            from_json(text_in(body), &marks_);
            break;
        case ChunkKind::samples:
            take_samples(summary, body);
            break;
        case ChunkKind::resident:
            residents_.push_back({object_in<ResidentSummary>(summary), body});
            check_rows(residents_.back().summary.runs);
            if (!std::has_single_bit(residents_.back().summary.page_bytes))
                throw Damage("the page size is not possible");
            break;
        case ChunkKind::relatives:
            from_json(text_in(body), &relatives_);
            break;
        case ChunkKind::end:
            from_json(text_in(body), &end_.emplace());
            note(end_->time);
            break;
        case ChunkKind::events:
        default:
            break;  // of a later version
    }
}

void Trace::take_stacks(ByteView summary, ByteView body) {
    const auto head = object_in<StacksSummary>(summary);
    check_rows(head.nodes);
    if (head.first != stacks_.size()) throw Damage("stacks are missing");
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(body, number_of(StackColumn::addresses), head.nodes * kMostNumberBytes);
    NumberReader parents(columns[number_of(StackColumn::parents)]);
    NumberReader addresses(columns[number_of(StackColumn::addresses)]);
    std::uint64_t address = 0;
    for (std::uint32_t i = 0; i < head.nodes; ++i) {
        const std::uint64_t number = stacks_.size();
        const std::uint64_t back = parents.take();
        if (back == 0 || back > number) throw Damage("a stack refers to a caller that comes after it");
        address += addresses.take_difference();
        stacks_.push_back({StackNumber{static_cast<std::uint32_t>(number - back)}, address});
    }
}

void Trace::take_samples(ByteView summary, ByteView body) {
    const auto head = object_in<SamplesSummary>(summary);
    check_rows(head.rows);
    const std::vector<Bytes> columns = ColumnUnpacker().unpack(body, kSampleColumns, head.rows * kMostNumberBytes);
    std::array<NumberReader, kSampleColumns> readers;
    for (unsigned i = 0; i < kSampleColumns; ++i) readers[i] = NumberReader(columns[i + 1]);
    std::array<std::uint64_t, kSampleColumns> row{};
    for (std::uint32_t i = 0; i < head.rows; ++i) {
        for (unsigned k = 0; k < kSampleColumns; ++k) {
            if (k < head.columns) row[k] += readers[k].take_difference();
        }
        Sample sample = sample_of(row);
        sample.keep_times_from_falling(samples_.empty() ? Sample() : samples_.back());
        samples_.push_back(sample);
        note(samples_.back().time);
    }
}

// A later piece about a thread tells more; a thread of which only events are there has a number.
void Trace::complete_threads() {
    std::vector<Thread> complete;
    const auto of = [&](ThreadNumber number) -> Thread & {
        const std::size_t place = number_of(number);
        while (complete.size() <= place)
            complete.push_back({ThreadNumber{static_cast<std::uint32_t>(complete.size())}, 0, "", Time{}});
        return complete[place];
    };
    constexpr std::uint32_t kMostThreads = kMostRows;
    for (const EventBlock &block : blocks_) {
        if (block.summary.thread < kMostThreads) of(ThreadNumber{block.summary.thread});
    }
    for (Thread &thread : threads_) {
        if (number_of(thread.number) < kMostThreads) of(thread.number) = std::move(thread);
    }
    threads_ = std::move(complete);
}

Resident Trace::resident(const ResidentBlock &block) const {
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(block.body, number_of(ResidentColumn::runs), block.summary.runs * kMostNumberBytes);
    NumberReader gaps(columns[number_of(ResidentColumn::gaps)]);
    NumberReader runs(columns[number_of(ResidentColumn::runs)]);
    Resident resident{Time{block.summary.time}, block.summary.page_bytes, {}};
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < block.summary.runs; ++i) {
        const std::uint64_t begin = end + gaps.take() * block.summary.page_bytes;
        const std::uint64_t bytes = runs.take() * block.summary.page_bytes;
        end = begin + bytes;
        resident.runs.push_back({begin, bytes});
    }
    return resident;
}

void BlockReader::Sparse::begin(const Bytes &bytes) {
    numbers = NumberReader(bytes);
    is_there = !numbers.is_at_end();
    passed_over = is_there ? numbers.take() : 0;
}

std::uint64_t BlockReader::Sparse::take() {
    if (!is_there) return 0;
    if (passed_over != 0) {
        --passed_over;
        return 0;
    }
    const std::uint64_t number = numbers.take();
    is_there = !numbers.is_at_end();
    passed_over = is_there ? numbers.take() : 0;
    return number;
}

void BlockReader::begin(const EventBlock &block) {
    left_ = 0;
    if (check_of(0, block.body) != block.body_check) throw Damage("the checksum of a block of events is wrong");
    columns_ =
        unpacker_.unpack(block.body, number_of(EventColumn::timings), block.summary.events * 2 * kMostNumberBytes);
    const auto column = [&](EventColumn which) -> const Bytes & { return columns_[number_of(which)]; };
    ops_ = NumberReader(column(EventColumn::ops));
    times_ = NumberReader(column(EventColumn::times));
    addresses_ = NumberReader(column(EventColumn::addresses));
    sizes_ = NumberReader(column(EventColumn::sizes));
    alignments_ = NumberReader(column(EventColumn::alignments));
    stacks_.begin(column(EventColumn::stacks));
    timings_.begin(column(EventColumn::timings));
    left_ = block.summary.events;
    thread_ = ThreadNumber{block.summary.thread};
    time_ = block.summary.first_time;
    address_ = 0;
}

bool BlockReader::next(Event *event) {
    if (left_ == 0) return false;
    --left_;
    const std::uint8_t op = ops_.take_byte();
    const std::uint8_t number = op & static_cast<std::uint8_t>(~kHasAlignment);
    if (!is_known(number)) throw Damage("an event has an unknown kind");
    time_ += times_.take();
    address_ += addresses_.take_difference();
    event->op = Op{number};
    event->time = Time{time_};
    event->thread = thread_;
    event->address = std::rotl(address_, kAddressTurn);
    event->size = frees(event->op) ? 0 : sizes_.take();
    event->log2_alignment = (op & kHasAlignment) != 0 ? alignments_.take_byte() : 0;
    event->stack = StackNumber{static_cast<std::uint32_t>(stacks_.take())};
    event->nanoseconds = static_cast<std::uint32_t>(timings_.take());
    return true;
}

}  // namespace gr::trace
