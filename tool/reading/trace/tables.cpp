// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/tables.hpp"

#include <array>
#include <limits>

namespace gr::trace {

namespace {

// Throws Damage where it is more than its type holds.
template <class T>
T narrow(std::uint64_t number) {
    if (number > std::numeric_limits<T>::max()) throw Damage("a number in a table is too large");
    return static_cast<T>(number);
}

// The end of a range is a number. The bytes of brk may be any.
void check_request(const Request &request) {
    check_time(request.time);
    if (request.kind == RequestKind::brk) return;
    if (request.size > kMostBlock || request.size > UINT64_MAX - request.address)
        throw Damage("a range of a request lies beyond the last address");
}

}  // namespace

std::vector<Request> requests_in(ByteView summary, ByteView body) {
    const auto head = object_in<TableSummary>(summary);
    check_rows_of_bytes(head.rows, body);
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(body, kRequestColumns, std::uint64_t{head.rows} * kMostNumberBytes);
    std::array<NumberReader, kRequestColumns + 1> readers;
    for (unsigned i = 1; i <= kRequestColumns; ++i) readers[i] = NumberReader(columns[i]);
    const auto column = [&](RequestColumn which) -> NumberReader & { return readers[number_of(which)]; };
    std::vector<Request> requests;
    Request row;
    for (std::uint32_t i = 0; i < head.rows; ++i) {
        row.time.units += column(RequestColumn::time).take_difference();
        row.thread = ThreadNumber{narrow<std::uint32_t>(column(RequestColumn::thread).take())};
        const std::uint64_t kind = column(RequestColumn::kind).take();
        if (!is_request(kind)) throw Damage("a request has an unknown kind");
        row.kind = RequestKind{static_cast<std::uint8_t>(kind)};
        row.address += column(RequestColumn::address).take_difference();
        row.size = column(RequestColumn::size).take();
        row.detail = narrow<std::uint8_t>(column(RequestColumn::detail).take());
        row.stack = StackNumber{narrow<std::uint32_t>(column(RequestColumn::stack).take())};
        check_request(row);
        requests.push_back(row);
    }
    return requests;
}

// A kind of a later version is one that is not known.
MemoryLook memory_in(const MemorySummary &summary, ByteView body) {
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(body, kMemoryColumns, std::uint64_t{summary.rows} * kMostNumberBytes);
    std::array<NumberReader, kMemoryColumns + 1> readers;
    for (unsigned i = 1; i <= kMemoryColumns; ++i) readers[i] = NumberReader(columns[i]);
    const auto column = [&](MemoryColumn which) -> NumberReader & { return readers[number_of(which)]; };
    MemoryLook look{Time{summary.time}, summary.page_tables, {}};
    std::uint64_t resident = 0;
    for (std::uint32_t i = 0; i < summary.rows; ++i) {
        MemoryPart part;
        const std::uint64_t kind = column(MemoryColumn::kind).take();
        part.kind =
            kind != 0 && kind < kMemoryKinds ? MemoryKind{static_cast<std::uint8_t>(kind)} : MemoryKind::not_known;
        part.name = narrow<std::uint32_t>(column(MemoryColumn::name).take());
        part.stack = StackNumber{narrow<std::uint32_t>(column(MemoryColumn::stack).take())};
        part.mappings = column(MemoryColumn::mappings).take();
        part.bytes = column(MemoryColumn::bytes).take();
        part.resident = column(MemoryColumn::resident).take();
        if (part.resident > kMostBlock - resident) throw Damage("more is resident than any machine has");
        resident += part.resident;
        look.parts.push_back(part);
    }
    return look;
}

Resident resident_in(const ResidentSummary &summary, ByteView body) {
    const std::vector<Bytes> columns =
        ColumnUnpacker().unpack(body, number_of(ResidentColumn::runs), summary.runs * kMostNumberBytes);
    NumberReader gaps(columns[number_of(ResidentColumn::gaps)]);
    NumberReader runs(columns[number_of(ResidentColumn::runs)]);
    Resident resident{Time{summary.time}, summary.page_bytes, {}};
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < summary.runs; ++i) {
        // The last address of all belongs to no run, so that a run's end is a number.
        const auto pages_within = [&](std::uint64_t pages, std::uint64_t from) {
            if (pages > (UINT64_MAX - from) / summary.page_bytes)
                throw Damage("resident pages lie beyond the last address");
            return pages * summary.page_bytes;
        };
        const std::uint64_t begin = end + pages_within(gaps.take(), end);
        const std::uint64_t bytes = pages_within(runs.take(), begin);
        end = begin + bytes;
        resident.runs.push_back({begin, bytes});
    }
    return resident;
}

}  // namespace gr::trace
