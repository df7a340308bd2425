// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one step of a fuzzing run, its encoding as a fixed number of bytes, and its C++ spelling.
// Invariant: every byte string decodes; records are independent, so any of them can be left out.
// Must not know: how a step is carried out or checked.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gr::fuzz {

enum class Kind : std::uint8_t {
    kMalloc,
    kCalloc,
    kAlignedAlloc,
    kPosixMemalign,
    kMemalign,
    kValloc,
    kPvalloc,
    kNew,
    kNewNothrow,
    kNewArray,
    kNewAligned,
    kFree,
    kFreeSized,
    kRealloc,
    kReallocarray,
    kUsableSize,
    kVerify,
    kThread,
    kThreadEnd,
    kCpu,
    kFork,
    kTrim,
    kFreeNull,
};

struct KindRow {
    Kind kind;
    const char *name;
    unsigned weight;  // how many of the 256 values of the first byte mean this kind
};

inline constexpr std::array<KindRow, 23> kKinds{{
    {Kind::kMalloc, "kMalloc", 40},
    {Kind::kCalloc, "kCalloc", 20},
    {Kind::kAlignedAlloc, "kAlignedAlloc", 10},
    {Kind::kPosixMemalign, "kPosixMemalign", 10},
    {Kind::kMemalign, "kMemalign", 8},
    {Kind::kValloc, "kValloc", 2},
    {Kind::kPvalloc, "kPvalloc", 2},
    {Kind::kNew, "kNew", 12},
    {Kind::kNewNothrow, "kNewNothrow", 4},
    {Kind::kNewArray, "kNewArray", 4},
    {Kind::kNewAligned, "kNewAligned", 8},
    {Kind::kFree, "kFree", 50},
    {Kind::kFreeSized, "kFreeSized", 22},
    {Kind::kRealloc, "kRealloc", 28},
    {Kind::kReallocarray, "kReallocarray", 8},
    {Kind::kUsableSize, "kUsableSize", 6},
    {Kind::kVerify, "kVerify", 2},
    {Kind::kThread, "kThread", 8},
    {Kind::kThreadEnd, "kThreadEnd", 1},
    {Kind::kCpu, "kCpu", 6},
    {Kind::kFork, "kFork", 1},
    {Kind::kTrim, "kTrim", 3},
    {Kind::kFreeNull, "kFreeNull", 1},
}};

constexpr unsigned sum_of_weights() {
    unsigned sum = 0;
    for (const KindRow &row : kKinds) sum += row.weight;
    return sum;
}
static_assert(sum_of_weights() == 256, "every value of the first byte means one kind");

inline constexpr std::size_t kSlots = 4096;                       // places a block can be kept in
inline constexpr std::size_t kRecordBytes = 8;                    // bytes of one encoded operation
inline constexpr std::size_t kBurstBytes = std::size_t{1} << 20;  // a burst takes about this much at most

struct Operation {
    Kind kind = Kind::kVerify;
    std::uint16_t slot = 0;     // the block; for kThread and kCpu: which one
    std::uint16_t count = 1;    // the operation is repeated on this many slots,
    std::uint16_t step = 1;     // this far apart (modulo kSlots)
    std::size_t size = 0;       // of one element; for kTrim: bytes to keep
    std::size_t members = 1;    // elements, for calloc and reallocarray
    std::size_t alignment = 0;  // for the aligned kinds
};

constexpr Kind decode_kind(std::uint8_t byte) {
    unsigned below = 0;
    for (const KindRow &row : kKinds) {
        below += row.weight;
        if (byte < below) return row.kind;
    }
    return Kind::kVerify;
}

// Most sizes are small; edges of likely size classes, large, huge and impossible sizes have their share.
constexpr std::size_t decode_size(std::uint8_t shape, std::uint16_t raw) {
    if (shape < 96) return raw % 129;
    if (shape < 176) return raw % 1025;
    if (shape < 216) return raw % 33000;
    if (shape < 248) {
        const std::size_t edge = (std::size_t{8} + (raw >> 4) % 8) << (raw % 14);
        return edge + (raw >> 7) % 5 - 2;
    }
    if (shape < 252) return std::size_t{raw} * (shape < 251 ? 4 : 16);
    if (shape == 252) return std::size_t{raw} * 1024;
    if (shape == 253) return PTRDIFF_MAX - std::size_t{raw};
    if (shape == 254) return SIZE_MAX / 2 + 1 + raw;
    return SIZE_MAX - raw;
}

constexpr std::size_t decode_alignment(std::uint8_t byte) {
    if (byte < 232) return std::size_t{1} << (byte % 17);
    if (byte < 246) return std::size_t{1} << (17 + byte % 6);
    if (byte < 252) return std::size_t{byte} * 5 + 1;  // not a power of two
    if (byte == 252) return 0;
    if (byte == 253) return std::size_t{1} << 62;
    return SIZE_MAX - (SIZE_MAX >> (byte - 253)) + (byte == 255 ? 1 : 0);
}

constexpr bool takes_members(Kind kind) { return kind == Kind::kCalloc || kind == Kind::kReallocarray; }

constexpr bool takes_alignment(Kind kind) {
    return kind == Kind::kAlignedAlloc || kind == Kind::kPosixMemalign || kind == Kind::kMemalign ||
           kind == Kind::kNewAligned;
}

constexpr bool allocates(Kind kind) { return kind <= Kind::kNewAligned; }

// Repeats only what touches slots, and not so often that a burst of large blocks takes seconds.
constexpr void decode_burst(std::uint8_t byte, Operation &operation) {
    constexpr std::array<std::uint16_t, 4> kSteps{1, kSlots - 1, 7, 129};
    if (byte < 176 || operation.kind > Kind::kUsableSize) return;
    const unsigned value = byte - 176U;
    operation.step = kSteps[value % kSteps.size()];
    std::size_t count = 1 + value / kSteps.size() * 40;
    const std::size_t larger = operation.size > operation.alignment ? operation.size : operation.alignment;
    const bool frees = operation.kind == Kind::kFree || operation.kind == Kind::kFreeSized;
    if (!frees && larger > kBurstBytes / count) count = 1;
    operation.count = static_cast<std::uint16_t>(count);
}

// Splits size into members of equal size; an impossible size becomes an overflowing product.
constexpr void decode_members(std::uint8_t byte, Operation &operation) {
    if (operation.size > PTRDIFF_MAX) {
        operation.members = operation.size / (1U + byte % 16U);
        operation.size = 2U + 16U * (1U + byte % 16U);
        return;
    }
    operation.members = 1U + byte % 32U;
    operation.size /= operation.members;
}

constexpr std::uint16_t word_at(std::span<const std::uint8_t, kRecordBytes> record, std::size_t at) {
    return static_cast<std::uint16_t>(record[at] | static_cast<unsigned>(record[at + 1]) << 8);
}

constexpr Operation decode(std::span<const std::uint8_t, kRecordBytes> record) {
    Operation operation;
    operation.kind = decode_kind(record[0]);
    operation.slot = static_cast<std::uint16_t>(word_at(record, 1) % kSlots);
    const bool frees = operation.kind == Kind::kFree || operation.kind == Kind::kFreeSized;
    if (!frees && (operation.kind <= Kind::kReallocarray || operation.kind == Kind::kTrim)) {
        operation.size = decode_size(record[3], word_at(record, 4));
    }
    if (takes_alignment(operation.kind)) operation.alignment = decode_alignment(record[6]);
    if (operation.kind == Kind::kNewAligned) {  // C++ gives no meaning to other alignments
        operation.alignment = operation.alignment == 0 ? 1 : std::bit_floor(operation.alignment);
    }
    decode_burst(record[7], operation);
    if (takes_members(operation.kind)) decode_members(record[6], operation);
    return operation;
}

constexpr const char *name_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

constexpr bool table_follows_enumeration() {
    std::size_t index = 0;
    for (const KindRow &row : kKinds) {
        if (static_cast<std::size_t>(row.kind) != index++) return false;
    }
    return true;
}
static_assert(table_follows_enumeration(), "name_of indexes the table by kind");

// As an element of the list that replay() in replay.hpp takes; fields at their default are left out.
inline std::string as_cpp(const Operation &operation) {
    std::string text = std::string("{.kind = Kind::") + name_of(operation.kind);
    const auto field = [&text](const char *name, std::size_t value, std::size_t usual) {
        if (value != usual) text += std::string(", .") + name + " = " + std::to_string(value);
    };
    field("slot", operation.slot, 0);
    field("count", operation.count, 1);
    field("step", operation.step, 1);
    field("size", operation.size, 0);
    field("members", operation.members, 1);
    field("alignment", operation.alignment, 0);
    return text + "}";
}

}  // namespace gr::fuzz
