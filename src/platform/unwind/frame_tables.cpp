// SPDX-License-Identifier: Apache-2.0 OR MIT
// Searches the index in .eh_frame_hdr and runs one entry up to a place. Encodings that linkers do not write: no rule.
#include "platform/unwind/frame_tables.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstring>

// glibc 2.35 and later have it.
#pragma weak _dl_find_object

namespace gr::platform {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t kFramePointer = 6;
constexpr std::uint64_t kStackPointer = 7;
constexpr std::uint64_t kReturnAddress = 16;
#else
constexpr std::uint64_t kFramePointer = 29;
constexpr std::uint64_t kStackPointer = 31;
constexpr std::uint64_t kReturnAddress = 30;
#endif

constexpr std::uint8_t kSigned4 = 0x0b;
constexpr std::uint8_t kUnsigned4 = 0x03;
constexpr std::uint8_t kFromHere = 0x10;
constexpr std::uint8_t kFromIndex = 0x30;

// Instructions that take all bits of their first byte; the names are DWARF's, without their prefix.
enum : std::uint8_t {
    kNop,
    kSetLoc,
    kAdvanceLoc1,
    kAdvanceLoc2,
    kAdvanceLoc4,
    kOffsetExtended,
    kRestoreExtended,
    kUndefined,
    kSameValue,
    kRegister,
    kRememberState,
    kRestoreState,
    kDefCfa,
    kDefCfaRegister,
    kDefCfaOffset,
    kDefCfaExpression,
    kExpression,
    kOffsetExtendedSf,
    kDefCfaSf,
    kDefCfaOffsetSf,
    kGnuArgsSize = 0x2e,
};

template <class T>
T read_at(const std::uint8_t *at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

class Reader {
  public:
    Reader(const std::uint8_t *at, const std::uint8_t *end) : at_(at), end_(end) {}

    bool more() const { return at_ < end_; }
    const std::uint8_t *at() const { return at_; }
    void skip(std::uint64_t bytes) { at_ = bytes < static_cast<std::uint64_t>(end_ - at_) ? at_ + bytes : end_; }
    template <class T>
    T take() {
        if (static_cast<std::size_t>(end_ - at_) < sizeof(T)) {
            at_ = end_;
            return 0;
        }
        const T value = read_at<T>(at_);
        at_ += sizeof(T);
        return value;
    }
    std::uint64_t take_unsigned() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = take<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) == 0) return value;
        }
    }
    std::int64_t take_signed() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = take<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) != 0) continue;
            if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
            return static_cast<std::int64_t>(value);
        }
    }

  private:
    const std::uint8_t *at_;
    const std::uint8_t *end_;
};

// Where the caller's registers are, at one place of the code.
struct Registers {
    std::uint64_t base = kStackPointer;
    std::int64_t frame_end = 0;
    std::int64_t frame_pointer = 0;   // where it was saved; 0: it still is in its register
    std::int64_t return_address = 0;  // where it was saved
    bool is_plain = true;             // needs no other rule than these

    void save(std::uint64_t number, std::int64_t where) {
        if (number == kFramePointer) frame_pointer = where;
        if (number == kReturnAddress) return_address = where;
    }
    void lose(std::uint64_t number) {
        if (number == kFramePointer || number == kReturnAddress) is_plain = false;
    }
    FrameRule rule() const {
        if (!is_plain || (base != kStackPointer && base != kFramePointer)) return {};
        return FrameRule::of({.from_frame_pointer = base == kFramePointer,
                              .saves_frame_pointer = frame_pointer != 0,
                              .frame_end = frame_end,
                              .frame_pointer = frame_pointer,
                              .return_address = return_address});
    }
};

// What several entries have in common (DWARF's CIE).
struct Common {
    std::uint64_t code_step = 0;
    std::int64_t data_step = 0;
    bool has_augmentation = false;
    const std::uint8_t *begin = nullptr;  // of its instructions; nullptr: it is not of the plain kind
    const std::uint8_t *end = nullptr;
};

class Program {
  public:
    Program(const Common &common, std::uintptr_t code) : common_(common), at_(code) {}

    // Runs the instructions up to the state that holds at `until`.
    void run(const std::uint8_t *begin, const std::uint8_t *end, std::uintptr_t until) {
        Reader reader(begin, end);
        while (reader.more() && at_ <= until && now_.is_plain) {
            const auto instruction = reader.take<std::uint8_t>();
            const std::uint64_t low = instruction & 0x3fU;
            switch (instruction >> 6) {
                case 1:
                    advance(low);
                    break;
                case 2:
                    now_.save(low, scaled(reader.take_unsigned()));
                    break;
                case 3:
                    restore(low);
                    break;
                default:
                    run_long(instruction, reader);
            }
        }
    }
    void begin_entry() { first_ = now_; }
    const Registers &registers() const { return now_; }

  private:
    std::int64_t scaled(std::uint64_t n) const { return static_cast<std::int64_t>(n) * common_.data_step; }
    void advance(std::uint64_t steps) { at_ += steps * common_.code_step; }
    void restore(std::uint64_t number) {
        if (number == kFramePointer) now_.frame_pointer = first_.frame_pointer;
        if (number == kReturnAddress) now_.return_address = first_.return_address;
    }
    void run_long(std::uint8_t instruction, Reader &reader);
    bool define_frame_end(std::uint8_t instruction, Reader &reader);

    const Common &common_;
    std::uintptr_t at_;
    Registers now_;
    Registers first_;
    std::array<Registers, 8> remembered_;
    std::size_t remembered_count_ = 0;
};

// false: it is another instruction.
bool Program::define_frame_end(std::uint8_t instruction, Reader &reader) {
    const bool is_base = instruction == kDefCfa || instruction == kDefCfaSf || instruction == kDefCfaRegister;
    const bool is_signed = instruction == kDefCfaSf || instruction == kDefCfaOffsetSf;
    const bool is_offset = instruction == kDefCfa || instruction == kDefCfaOffset;
    if (is_base) now_.base = reader.take_unsigned();
    if (is_signed) now_.frame_end = reader.take_signed() * common_.data_step;
    if (is_offset) now_.frame_end = static_cast<std::int64_t>(reader.take_unsigned());
    return is_base || is_signed || is_offset;
}

void Program::run_long(std::uint8_t instruction, Reader &reader) {
    switch (instruction) {
        case kNop:
            return;
        case kAdvanceLoc1:
            return advance(reader.take<std::uint8_t>());
        case kAdvanceLoc2:
            return advance(reader.take<std::uint16_t>());
        case kAdvanceLoc4:
            return advance(reader.take<std::uint32_t>());
        case kOffsetExtended:
        case kOffsetExtendedSf: {
            const std::uint64_t number = reader.take_unsigned();
            const bool is_signed = instruction == kOffsetExtendedSf;
            return now_.save(number,
                             is_signed ? reader.take_signed() * common_.data_step : scaled(reader.take_unsigned()));
        }
        case kRestoreExtended:
            return restore(reader.take_unsigned());
        case kUndefined:
            return now_.lose(reader.take_unsigned());
        case kSameValue:
            return now_.save(reader.take_unsigned(), 0);
        case kRegister:
            now_.lose(reader.take_unsigned());
            reader.take_unsigned();
            return;
        case kRememberState:
            if (remembered_count_ == remembered_.size()) break;
            remembered_[remembered_count_++] = now_;
            return;
        case kRestoreState:
            if (remembered_count_ == 0) break;
            now_ = remembered_[--remembered_count_];
            return;
        case kExpression:
            now_.lose(reader.take_unsigned());
            return reader.skip(reader.take_unsigned());
        case kGnuArgsSize:
            reader.take_unsigned();
            return;
        default:
            if (define_frame_end(instruction, reader)) return;
            break;
    }
    now_.is_plain = false;
}

// Reads the augmentation "zR", and others whose data has a length before it: "zPLR" of C++. Not "zRS", of a signal's
// frame.
Common common_of(const std::uint8_t *entry) {
    Common common;
    const auto length = read_at<std::uint32_t>(entry);
    Reader reader(entry + sizeof length, entry + sizeof length + length);
    reader.skip(sizeof(std::uint32_t));
    const auto version = reader.take<std::uint8_t>();
    const auto *const augmentation = reinterpret_cast<const char *>(reader.at());
    reader.skip(std::strlen(augmentation) + 1);
    common.code_step = reader.take_unsigned();
    common.data_step = reader.take_signed();
    const std::uint64_t return_address = version == 1 ? reader.take<std::uint8_t>() : reader.take_unsigned();
    common.has_augmentation = augmentation[0] == 'z';
    if (return_address != kReturnAddress || !common.has_augmentation || std::strchr(augmentation, 'S') != nullptr)
        return common;
    const std::uint64_t bytes = reader.take_unsigned();
    Reader data(reader.at(), reader.at() + bytes);
    std::uint8_t encoding = 0;
    for (const char *letter = augmentation + 1; *letter != '\0'; ++letter) {
        if (*letter == 'R') encoding = data.take<std::uint8_t>();
        if (*letter == 'L') data.take<std::uint8_t>();
        if (*letter == 'P') {
            constexpr std::uint8_t kPointer = 0;
            data.skip((data.take<std::uint8_t>() & 0x7) == kPointer ? sizeof(void *) : sizeof(std::uint32_t));
        }
    }
    if (encoding != (kFromHere | kSigned4)) return common;
    reader.skip(bytes);
    common.begin = reader.at();
    common.end = entry + sizeof length + length;
    return common;
}

FrameRule rule_of(const std::uint8_t *entry, std::uintptr_t code) {
    const auto length = read_at<std::uint32_t>(entry);
    const std::uint8_t *const back = entry + sizeof length;
    const Common common = common_of(back - read_at<std::uint32_t>(back));
    if (common.begin == nullptr) return {};
    Reader reader(back, back + length);
    reader.skip(sizeof(std::uint32_t));
    const std::uint8_t *const here = reader.at();
    const auto begin =
        reinterpret_cast<std::uintptr_t>(here) + static_cast<std::uintptr_t>(reader.take<std::int32_t>());
    if (code - begin >= reader.take<std::uint32_t>()) return {};
    reader.skip(reader.take_unsigned());
    Program program(common, begin);
    program.run(common.begin, common.end, code);
    program.begin_entry();
    program.run(reader.at(), back + length, code);
    return program.registers().rule();
}

// The last entry that begins at or before the code; nullptr: none, or another form of index.
const std::uint8_t *entry_of(const std::uint8_t *index, std::uintptr_t code) {
    struct Row {
        std::int32_t code;
        std::int32_t entry;
    };
    const bool is_known = index[0] == 1 && index[1] == (kFromHere | kSigned4) && index[2] == kUnsigned4 &&
                          index[3] == (kFromIndex | kSigned4);
    if (!is_known) return nullptr;
    const std::uint8_t *const count_at = index + 4 + sizeof(std::int32_t);
    const auto count = read_at<std::uint32_t>(count_at);
    const std::uint8_t *const rows = count_at + sizeof count;
    const auto wanted = static_cast<std::int64_t>(code - reinterpret_cast<std::uintptr_t>(index));
    std::uint32_t low = 0;
    for (std::uint32_t high = count; low < high;) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (read_at<Row>(rows + std::size_t{middle} * sizeof(Row)).code <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return nullptr;
    return index + read_at<Row>(rows + std::size_t{low - 1} * sizeof(Row)).entry;
}

}  // namespace

FrameRule find_frame_rule(std::uintptr_t code) {
    const std::uintptr_t calls = code - 1;  // a call may be the last instruction of its function
    dl_find_object object{};
    if (&_dl_find_object == nullptr) return {};
    if (_dl_find_object(reinterpret_cast<void *>(calls), &object) != 0 || object.dlfo_eh_frame == nullptr) return {};
    const std::uint8_t *const entry = entry_of(static_cast<const std::uint8_t *>(object.dlfo_eh_frame), calls);
    return entry == nullptr ? FrameRule() : rule_of(entry, calls);
}

}  // namespace gr::platform
