// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/trace/check.hpp"
#include "reading/trace/json.hpp"
#include "reading/trace/symbols_chunk.hpp"

namespace gr::trace {

namespace {

using tool::ExitCode;
using tool::Failure;

template <class T>
ByteView bytes_of(const T &object) {
    return {reinterpret_cast<const std::uint8_t *>(&object), sizeof object};
}

[[noreturn]] void fail_to_write(const std::string &path, int error) {
    throw Failure(ExitCode::tool_failure,
                  fmt::format("cannot write {}: {}", tool::in_quotes(path), std::generic_category().message(error)));
}

EventsSummary summary_of(ThreadNumber thread, std::span<const Event> events, std::uint32_t lost) {
    EventsSummary summary;
    summary.thread = number_of(thread);
    summary.events = static_cast<std::uint32_t>(events.size());
    summary.lost = lost;
    if (events.empty()) return summary;
    summary.first_time = events.front().time.units;
    summary.last_time = events.back().time.units;
    std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
    for (const Event &event : events) {
        if (event.stack != StackNumber::none) ++summary.stacks;
        if (is_of_pages(event.op)) {
            ++summary.of_pages;
        } else if (frees(event.op)) {
            ++summary.freed;
        } else if (event.address == 0) {
            ++summary.failed;
        } else {
            ++summary.obtained;
            ++summary.sizes[size_bucket(event.size)];
            summary.bytes += event.size;
            lowest = std::min(lowest, event.address);
            summary.highest = std::max(summary.highest, event.address + event.size);
        }
    }
    summary.lowest = summary.obtained != 0 ? lowest : 0;
    return summary;
}

}  // namespace

Writer::Writer(const std::string &path) : path_(path) {
    constexpr mode_t kMode = 0600;  // what a program does with its memory is its owner's affair
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (file_ < 0) fail_to_write(path_, errno);
    const FileHead head;
    write_bytes({bytes_of(head)});
}

Writer::~Writer() {
    if (file_ >= 0) ::close(file_);
}

void Writer::write_bytes(std::initializer_list<ByteView> pieces) {
    std::vector<iovec> left;
    for (const ByteView piece : pieces) {
        if (!piece.empty()) left.push_back({const_cast<std::uint8_t *>(piece.data()), piece.size()});
    }
    const std::uint64_t before = bytes_;
    for (std::size_t i = 0; i < left.size();) {
        const ssize_t written = ::writev(file_, &left[i], static_cast<int>(left.size() - i));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int error = errno;
            if (::ftruncate(file_, static_cast<off_t>(before)) == 0) bytes_ = before;
            fail_to_write(path_, error);
        }
        bytes_ += static_cast<std::uint64_t>(written);
        for (auto rest = static_cast<std::size_t>(written); i < left.size(); ++i) {
            if (rest < left[i].iov_len) {
                left[i].iov_base = static_cast<std::uint8_t *>(left[i].iov_base) + rest;
                left[i].iov_len -= rest;
                break;
            }
            rest -= left[i].iov_len;
        }
    }
}

void Writer::write_chunk(ChunkKind kind, ByteView summary, ByteView body) {
    ChunkHead head{number_of(kind), static_cast<std::uint32_t>(summary.size()), static_cast<std::uint32_t>(body.size()),
                   check_of(0, body), 0};
    constexpr std::size_t kChecked = sizeof head - sizeof head.head_check;
    head.head_check = check_of(check_of(0, bytes_of(head).first(kChecked)), summary);
    write_bytes({bytes_of(head), summary, body});
}

template <class Summary>
void Writer::write(ChunkKind kind, const Summary &summary, ByteView body) {
    write_chunk(kind, bytes_of(summary), body);
}

void Writer::write_json(ChunkKind kind, std::string_view json) {
    write_chunk(kind, {}, {reinterpret_cast<const std::uint8_t *>(json.data()), json.size()});
}

void Writer::pack(std::uint8_t column, NumberWriter &numbers) {
    packer_.add(column, numbers.bytes());
    numbers.clear();
}

void Writer::start(const Start &start) { write_json(ChunkKind::start, to_json(start)); }
void Writer::threads(std::span<const Thread> threads) { write_json(ChunkKind::threads, to_json(threads)); }
void Writer::modules(const ModuleList &list) { write_json(ChunkKind::modules, to_json(list)); }
void Writer::marks(std::span<const Mark> marks) { write_json(ChunkKind::marks, to_json(marks)); }
void Writer::relative(const Relative &relative) { write_json(ChunkKind::relatives, to_json(relative)); }
void Writer::memory_names(std::span<const std::string> names) { write_json(ChunkKind::names, names_to_json(names)); }
void Writer::names(std::span<const NamedPlace> places) { write_bytes({symbol_chunks(places)}); }
void Writer::end(const End &end) { write_json(ChunkKind::end, to_json(end)); }

void Writer::events(ThreadNumber thread, std::span<const Event> events, std::uint32_t lost) {
    const auto column = [&](EventColumn which) -> NumberWriter & { return columns_[number_of(which)]; };
    NumberWriter &ops = column(EventColumn::ops);
    NumberWriter &times = column(EventColumn::times);
    NumberWriter &addresses = column(EventColumn::addresses);
    NumberWriter &sizes = column(EventColumn::sizes);
    NumberWriter &alignments = column(EventColumn::alignments);
    NumberWriter &stacks = column(EventColumn::stacks);
    NumberWriter &timings = column(EventColumn::timings);
    std::uint64_t time = events.empty() ? 0 : events.front().time.units;
    std::uint64_t address = 0;
    std::uint64_t without_stack = 0;
    std::uint64_t without_timing = 0;
    for (const Event &event : events) {
        const bool aligned = event.log2_alignment != 0;
        ops.put_byte(static_cast<std::uint8_t>(number_of(event.op) | (aligned ? kHasAlignment : 0)));
        times.put(event.time.units - time);
        time = event.time.units;
        const std::uint64_t turned = std::rotr(event.address, kAddressTurn);
        addresses.put_difference(turned - address);
        address = turned;
        if (!frees(event.op)) sizes.put(event.size);
        if (aligned) alignments.put_byte(event.log2_alignment);
        if (event.stack != StackNumber::none) {
            stacks.put(std::exchange(without_stack, 0));
            stacks.put(number_of(event.stack));
        } else {
            ++without_stack;
        }
        if (event.nanoseconds != 0) {
            timings.put(std::exchange(without_timing, 0));
            timings.put(event.nanoseconds);
        } else {
            ++without_timing;
        }
    }
    packer_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) pack(static_cast<std::uint8_t>(i), columns_[i]);
    write(ChunkKind::events, summary_of(thread, events, lost), packer_.body());
    events_ += events.size();
}

void Writer::stacks(std::span<const StackNode> nodes) {
    for (; nodes.size() > kRowsOfAnyBody; nodes = nodes.subspan(kRowsOfAnyBody))
        some_stacks(nodes.first(kRowsOfAnyBody));
    some_stacks(nodes);
}

void Writer::some_stacks(std::span<const StackNode> nodes) {
    NumberWriter &parents = columns_[number_of(StackColumn::parents)];
    NumberWriter &addresses = columns_[number_of(StackColumn::addresses)];
    const StacksSummary summary{nodes_ + 1, static_cast<std::uint32_t>(nodes.size())};
    std::uint64_t address = 0;
    for (const StackNode &node : nodes) {
        parents.put(++nodes_ - number_of(node.parent));
        addresses.put_difference(node.address - address);
        address = node.address;
    }
    packer_.clear();
    pack(number_of(StackColumn::parents), parents);
    pack(number_of(StackColumn::addresses), addresses);
    write(ChunkKind::stacks, summary, packer_.body());
}

void Writer::samples(std::span<const Sample> samples) {
    if (samples.empty()) return;
    const TableSummary summary{static_cast<std::uint32_t>(samples.size()), kSampleColumns, samples.front().time.units,
                               samples.back().time.units};
    packer_.clear();
    std::array<std::uint64_t, kSampleColumns> before{};
    std::array<NumberWriter, kSampleColumns> columns;
    for (const Sample &sample : samples) {
        const std::array<std::uint64_t, kSampleColumns> row = row_of(sample);
        for (unsigned i = 0; i < kSampleColumns; ++i) columns[i].put_difference(row[i] - before[i]);
        before = row;
    }
    for (unsigned i = 0; i < kSampleColumns; ++i) pack(static_cast<std::uint8_t>(i + 1), columns[i]);
    write(ChunkKind::samples, summary, packer_.body());
}

void Writer::requests(std::span<const Request> requests) {
    if (requests.empty()) return;
    const TableSummary summary{static_cast<std::uint32_t>(requests.size()), kRequestColumns,
                               requests.front().time.units, requests.back().time.units};
    const auto column = [&](RequestColumn which) -> NumberWriter & { return columns_[number_of(which)]; };
    Request before;
    for (const Request &request : requests) {
        column(RequestColumn::time).put_difference(request.time.units - before.time.units);
        column(RequestColumn::thread).put(number_of(request.thread));
        column(RequestColumn::kind).put(number_of(request.kind));
        column(RequestColumn::address).put_difference(request.address - before.address);
        column(RequestColumn::size).put(request.size);
        column(RequestColumn::detail).put(request.detail);
        column(RequestColumn::stack).put(number_of(request.stack));
        before = request;
    }
    packer_.clear();
    for (std::uint8_t i = 1; i <= kRequestColumns; ++i) pack(i, columns_[i]);
    write(ChunkKind::requests, summary, packer_.body());
}

void Writer::memory(const MemoryLook &look) {
    MemorySummary summary{look.time.units, static_cast<std::uint32_t>(look.parts.size()), kMemoryColumns, 0, 0,
                          look.page_tables};
    const auto column = [&](MemoryColumn which) -> NumberWriter & { return columns_[number_of(which)]; };
    for (const MemoryPart &part : look.parts) {
        (part.kind == MemoryKind::recorder ? summary.recorder : summary.resident) += part.resident;
        column(MemoryColumn::kind).put(number_of(part.kind));
        column(MemoryColumn::name).put(part.name);
        column(MemoryColumn::stack).put(number_of(part.stack));
        column(MemoryColumn::mappings).put(part.mappings);
        column(MemoryColumn::bytes).put(part.bytes);
        column(MemoryColumn::resident).put(part.resident);
    }
    packer_.clear();
    for (std::uint8_t i = 1; i <= kMemoryColumns; ++i) pack(i, columns_[i]);
    write(ChunkKind::memory, summary, packer_.body());
}

void Writer::resident(const Resident &resident) {
    NumberWriter &gaps = columns_[number_of(ResidentColumn::gaps)];
    NumberWriter &runs = columns_[number_of(ResidentColumn::runs)];
    ResidentSummary summary{resident.time.units, static_cast<std::uint32_t>(resident.runs.size()), resident.page_bytes,
                            0};
    std::uint64_t end = 0;
    for (const PageRun &run : resident.runs) {
        gaps.put((run.begin - end) / resident.page_bytes);
        runs.put(run.bytes / resident.page_bytes);
        end = run.begin + run.bytes;
        summary.resident_bytes += run.bytes;
    }
    packer_.clear();
    pack(number_of(ResidentColumn::gaps), gaps);
    pack(number_of(ResidentColumn::runs), runs);
    write(ChunkKind::resident, summary, packer_.body());
}

}  // namespace gr::trace
