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
#include <iterator>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/trace/check.hpp"
#include "reading/trace/json.hpp"
#include "reading/trace/symbols_chunk.hpp"

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
void check_rows(std::uint32_t rows, ByteView body) {
    if (rows > kRowsOfAnyBody + std::uint64_t{kMostRowsPerByte} * body.size())
        throw Damage("a table has more rows than its bytes can tell");
}

void check_time(Time time) {
    if (time.units > kMostTime) throw Damage("a time is not possible");
}

void check_start(const Start &start) {
    const bool is_sampled = start.stacks == Stacks::sampled;
    if (start.page_bytes != 0 && !is_page_size(start.page_bytes)) throw Damage("the page size is not possible");
    if (start.cpus > kMostCpus) throw Damage("the number of CPUs is not possible");
    if (is_sampled && start.stack_bytes == 0) throw Damage("stacks are sampled, but the mean distance is 0 bytes");
    if (start.began_nanoseconds < 0 || start.began_nanoseconds > kMostClock)
        throw Damage("the time of the start is not possible");
    constexpr double kMostCost = 1e9;  // a second
    if (!(start.clock_nanoseconds >= 0 && start.clock_nanoseconds <= kMostCost))
        throw Damage("the cost of the clock is not possible");
}

void check_modules(const ModuleList &list) {
    constexpr std::size_t kMostPath = 4096;
    constexpr std::size_t kMostBuildId = 256;
    check_time(list.time);
    for (const Module &module : list.modules) {
        if (module.path.size() > kMostPath || module.build_id.size() > kMostBuildId)
            throw Damage("the name of a mapped file is too long");
        if (module.begin >= module.end || module.offset > UINT64_MAX - (module.end - module.begin))
            throw Damage("a mapped file has impossible addresses");
    }
}

// A file's name in the same folder: a path could lead anywhere.
void check_relative(const Relative &relative) {
    check_time(relative.time);
    const std::string &file = relative.file;
    constexpr std::string_view kNotInNames("/\0", 2);
    if (file.empty() || file == "." || file == ".." || file.find_first_of(kNotInNames) != std::string::npos)
        throw Damage("the trace of a related process is not named by a file name");
}

// What one piece of JSON tells, if all of it is possible.
template <class One, class Check>
void take_all(ByteView body, std::vector<One> *all, Check check) {
    std::vector<One> told;
    from_json(text_in(body), &told);
    for (const One &one : told) check(one);
    all->insert(all->end(), std::move_iterator(told.begin()), std::move_iterator(told.end()));
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
        throw Failure(
            ExitCode::not_runnable,
            damage_.empty() ? fmt::format("{} ends before anything was recorded", tool::in_quotes(path_)) : damage_);
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
            readable_bytes_ = at += sizeof head + summary.size() + head.body_bytes;
        }
    } catch (const Damage &damage) {
        damage_ = fmt::format("{} is damaged at byte {} of {}: {}; only the part before is used",
                              tool::in_quotes(path_), at, all.size(), damage.what());
    }
}

void Trace::take(ChunkKind kind, const ChunkHead &head, ByteView summary, ByteView body) {
    if (kind == ChunkKind::events) return take_events(summary, body, head.body_check);
    if (check_of(0, body) != head.body_check) throw Damage("the checksum of a chunk is wrong");
    switch (kind) {
        case ChunkKind::start:
            take_start(body);
            break;
        case ChunkKind::stacks:
            take_stacks(summary, body);
            break;
        case ChunkKind::threads:
            take_all(body, &threads_, [this](const Thread &thread) {
                check_thread(thread.number);
                check_time(thread.first);
            });
            break;
        case ChunkKind::modules:
            take_all(body, &modules_, check_modules);
            break;
        case ChunkKind::marks:
            take_all(body, &marks_, [this](const Mark &mark) {
                check_thread(mark.thread);
                check_time(mark.time);
            });
            break;
        case ChunkKind::samples:
            take_samples(summary, body);
            break;
        case ChunkKind::resident:
            take_resident(summary, body);
            break;
        case ChunkKind::relatives:
            take_all(body, &relatives_, check_relative);
            break;
        case ChunkKind::symbols:
            add_symbols(summary, body, &symbols_);
            break;
        case ChunkKind::end:
            take_end(body);
            break;
        case ChunkKind::events:
        default:
            break;  // of a later version
    }
}

void Trace::take_start(ByteView body) {
    if (has_start_) throw Damage("there is a second start");
    Start start;
    from_json(text_in(body), &start);
    check_start(start);
    constexpr std::uint64_t kUsualPage = 4096;
    if (start.page_bytes == 0) start.page_bytes = kUsualPage;  // it was not told
    start_ = std::move(start);
    has_start_ = true;
}

void Trace::check_thread(ThreadNumber number) const {
    if (number_of(number) >= kThreadsOfAnyFile + bytes() / kLeastThreadBytes)
        throw Damage("a thread's number is larger than the file can tell of threads");
}

void Trace::take_events(ByteView summary, ByteView body, std::uint32_t body_check) {
    const EventBlock block{object_in<EventsSummary>(summary), body, body_check, stacks_.size()};
    const EventsSummary &told = block.summary;
    const std::uint64_t kinds = std::uint64_t{told.obtained} + told.freed + told.failed + told.of_pages;
    if (told.events > kMostEvents || told.first_time > told.last_time || kinds != told.events ||
        told.lowest > told.highest)
        throw Damage("a block of events contradicts its summary");
    check_time(Time{told.last_time});
    check_thread(ThreadNumber{told.thread});
    if (block_ends_.size() <= told.thread) block_ends_.resize(told.thread + std::size_t{1});
    if (told.events != 0 && told.first_time < std::exchange(block_ends_[told.thread], told.last_time))
        throw Damage("a block of events begins before the end of its thread's block before");
    events_ += told.events;
    lost_ += told.lost;
    note(Time{told.last_time});
    blocks_.push_back(block);
}

void Trace::take_end(ByteView body) {
    End end;
    from_json(text_in(body), &end);
    check_time(end.time);
    note(end.time);
    end_ = end;
}

void Trace::take_stacks(ByteView summary, ByteView body) {
    const auto head = object_in<StacksSummary>(summary);
    check_rows(head.nodes, body);
    if (head.first != stacks_.size()) throw Damage("stacks are missing");
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(body, number_of(StackColumn::addresses), std::uint64_t{head.nodes} * kMostNumberBytes);
    NumberReader parents(columns[number_of(StackColumn::parents)]);
    NumberReader addresses(columns[number_of(StackColumn::addresses)]);
    std::uint64_t address = 0;
    for (std::uint32_t i = 0; i < head.nodes; ++i) {
        const std::uint64_t number = stacks_.size();
        const std::uint64_t back = parents.take();
        if (back == 0 || back > number) throw Damage("a stack refers to a caller that comes after it");
        depths_.push_back(depths_[number - back] + 1);
        if (depths_.back() > kMostDepth) throw Damage("a stack has too many calls");
        address += addresses.take_difference();
        stacks_.push_back({StackNumber{static_cast<std::uint32_t>(number - back)}, address});
    }
}

void Trace::take_samples(ByteView summary, ByteView body) {
    const auto head = object_in<SamplesSummary>(summary);
    check_rows(head.rows, body);
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(body, kSampleColumns, std::uint64_t{head.rows} * kMostNumberBytes);
    std::array<NumberReader, kSampleColumns> readers;
    for (unsigned i = 0; i < kSampleColumns; ++i) readers[i] = NumberReader(columns[i + 1]);
    std::array<std::uint64_t, kSampleColumns> row{};
    for (std::uint32_t i = 0; i < head.rows; ++i) {
        for (unsigned k = 0; k < kSampleColumns; ++k) {
            if (k < head.columns) row[k] += readers[k].take_difference();
        }
        Sample sample = sample_of(row);
        check_time(sample.time);
        const Sample before = samples_.empty() ? Sample() : samples_.back();
        // Two threads of the recorder take samples, so that one may come after a later one.
        sample.time = std::max(sample.time, before.time);
        sample.keep_times_from_falling(before);
        note(sample.time);
        samples_.push_back(sample);
    }
}

void Trace::take_resident(ByteView summary, ByteView body) {
    const ResidentBlock block{object_in<ResidentSummary>(summary), body};
    if (block.summary.runs > kMostRuns) throw Damage("a table has too many rows");
    if (!is_page_size(block.summary.page_bytes)) throw Damage("the page size is not possible");
    check_time(Time{block.summary.time});
    residents_.push_back(block);
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
    for (const EventBlock &block : blocks_) of(ThreadNumber{block.summary.thread});
    for (Thread &thread : threads_) of(thread.number) = std::move(thread);
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
        // The last address of all belongs to no run, so that a run's end is a number.
        const auto pages_within = [&](std::uint64_t pages, std::uint64_t from) {
            if (pages > (UINT64_MAX - from) / block.summary.page_bytes)
                throw Damage("resident pages lie beyond the last address");
            return pages * block.summary.page_bytes;
        };
        const std::uint64_t begin = end + pages_within(gaps.take(), end);
        const std::uint64_t bytes = pages_within(runs.take(), begin);
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
    stacks_before_ = block.stacks;
    time_ = block.summary.first_time;
    last_time_ = block.summary.last_time;
    address_ = 0;
}

bool BlockReader::next(Event *event) {
    if (left_ == 0) return false;
    --left_;
    const std::uint8_t op = ops_.take_byte();
    const std::uint8_t number = op & static_cast<std::uint8_t>(~kHasAlignment);
    if (!is_known(number)) throw Damage("an event has an unknown kind");
    const std::uint64_t passed = times_.take();
    if (passed > last_time_ - time_) throw Damage("an event is later than the last of its block");
    time_ += passed;
    address_ += addresses_.take_difference();
    event->op = Op{number};
    event->time = Time{time_};
    event->thread = thread_;
    event->address = std::rotl(address_, kAddressTurn);
    event->size = frees(event->op) ? 0 : sizes_.take();
    event->log2_alignment = (op & kHasAlignment) != 0 ? alignments_.take_byte() : 0;
    const std::uint64_t stack = stacks_.take();
    if (stack >= stacks_before_) throw Damage("an event refers to a stack that did not come before it");
    event->stack = StackNumber{static_cast<std::uint32_t>(stack)};
    const std::uint64_t nanoseconds = timings_.take();
    if (nanoseconds > UINT32_MAX) throw Damage("a call took impossibly long");
    event->nanoseconds = static_cast<std::uint32_t>(nanoseconds);
    check(*event);
    return true;
}

// Of what was obtained the end is a number. The bytes of a call that failed, and of sbrk, may be any.
void BlockReader::check(const Event &event) const {
    if (frees(event.op) || event.op == Op::brk || event.address == 0) return;
    if (event.size > kMostBlock || event.size > UINT64_MAX - event.address)
        throw Damage("a block lies beyond the last address");
    if (obtains(event.op) && event.log2_alignment > kMostAlignment) throw Damage("an alignment is not possible");
}

}  // namespace gr::trace
