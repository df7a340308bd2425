// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reader.hpp.
// Invariant: as there. Every number that comes from the file is compared with what it may be before it is used.
// Must not know: what the events are wanted for.
#include "reading/trace/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/trace/check.hpp"
#include "reading/trace/json.hpp"
#include "reading/trace/symbols_chunk.hpp"
#include "reading/trace/tables.hpp"

namespace gr::trace {

namespace {

using tool::ExitCode;
using tool::Failure;

std::string_view text_in(ByteView bytes) { return {reinterpret_cast<const char *>(bytes.data()), bytes.size()}; }

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
    constexpr std::size_t kMostBuildId = 256;
    check_time(list.time);
    for (const Module &module : list.modules) {
        if (module.path.size() > kMostNameBytes || module.build_id.size() > kMostBuildId)
            throw Damage("the name of a mapped file is too long");
        if (module.begin >= module.end || module.offset > UINT64_MAX - (module.end - module.begin))
            throw Damage("a mapped file has impossible addresses");
    }
}

void check_name(const std::string &name) {
    if (name.size() > kMostNameBytes) throw Damage("the name of a mapped file is too long");
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
    std::ranges::stable_sort(requests_, {}, &Request::time);
    std::ranges::stable_sort(memory_, {}, [](const MemoryBlock &block) { return block.summary.time; });
    leave_out_recorder();
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
    if (kind == ChunkKind::places) return names_.take_places(text_in(body));
    if (kind == ChunkKind::made) return names_.take_made_functions(text_in(body));
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
        case ChunkKind::requests:
            take_requests(summary, body);
            break;
        case ChunkKind::resident:
            take_resident(summary, body);
            break;
        case ChunkKind::memory:
            take_memory(summary, body);
            break;
        case ChunkKind::names:
            take_all(body, &memory_names_, check_name);
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
        case ChunkKind::places:
        case ChunkKind::made:
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
    const auto head = object_in<TableSummary>(summary);
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

void Trace::take_requests(ByteView summary, ByteView body) {
    std::vector<Request> told = requests_in(summary, body);
    for (const Request &request : told) {
        check_thread(request.thread);
        if (number_of(request.stack) >= stacks_.size())
            throw Damage("a request refers to a stack that did not come before it");
        note(request.time);
    }
    requests_.insert(requests_.end(), told.begin(), told.end());
}

void Trace::take_resident(ByteView summary, ByteView body) {
    const ResidentBlock block{object_in<ResidentSummary>(summary), body};
    if (block.summary.runs > kMostRuns) throw Damage("a table has too many rows");
    if (!is_page_size(block.summary.page_bytes)) throw Damage("the page size is not possible");
    check_time(Time{block.summary.time});
    residents_.push_back(block);
}

void Trace::take_memory(ByteView summary, ByteView body) {
    const MemoryBlock block{object_in<MemorySummary>(summary), body, stacks_.size(), memory_names_.size()};
    check_time(Time{block.summary.time});
    check_rows_of_bytes(block.summary.rows, body);
    if (block.summary.resident > kMostBlock || block.summary.recorder > kMostBlock)
        throw Damage("more is resident than any machine has");
    memory_.push_back(block);
}

// A look at the memory counts each page. What the kernel tells in a sample lags behind where a program has many threads, and
// would be less.
void Trace::leave_out_recorder() {
    auto next = memory_.begin();
    std::uint64_t recorder = 0;
    for (Sample &sample : samples_) {
        std::uint64_t seen = 0;
        for (; next != memory_.end() && next->summary.time <= sample.time.units; ++next) {
            recorder = next->summary.recorder;
            seen = std::max(seen, next->summary.resident);
        }
        sample.resident_bytes -= std::min(recorder, sample.resident_bytes);
        sample.resident_bytes = std::max(sample.resident_bytes, seen);
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
    for (const EventBlock &block : blocks_) of(ThreadNumber{block.summary.thread});
    for (Thread &thread : threads_) of(thread.number) = std::move(thread);
    threads_ = std::move(complete);
}

Resident Trace::resident(const ResidentBlock &block) const { return resident_in(block.summary, block.body); }

MemoryLook Trace::memory_at(const MemoryBlock &block) const {
    MemoryLook look = memory_in(block.summary, block.body);
    for (const MemoryPart &part : look.parts) {
        if (part.name >= block.names || number_of(part.stack) >= block.stacks)
            throw Damage("a part of the memory refers to a name or a stack that did not come before it");
    }
    return look;
}

}  // namespace gr::trace
