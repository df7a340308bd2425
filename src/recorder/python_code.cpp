// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python_code.hpp"

#include <algorithm>

namespace gr {
namespace {

// Of a string and of a bytes object, in all versions.
constexpr std::size_t kLength = 16;
constexpr std::size_t kStringState = 32;
constexpr std::size_t kBytesText = 32;
constexpr unsigned kKindShift = 2;
constexpr unsigned kKindMask = 7;  // bytes of a letter
constexpr unsigned kIsCompact = 1U << 5;
constexpr unsigned kIsAscii = 1U << 6;
constexpr unsigned kUnitBytes = 2;  // of an instruction
constexpr unsigned kFirstWithTableOfRanges = 10;
constexpr unsigned kFirstWithLocations = 11;

class Utf8 {
  public:
    Utf8(char *to, std::size_t room) : to_(to), room_(room) {}

    std::size_t size() const { return size_; }
    bool has_room_for(std::uint32_t letter) const { return size_ + bytes_of(letter) <= room_; }
    static std::size_t bytes_of(std::uint32_t letter) {
        return letter < 0x80 ? 1 : letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
    }
    // In UTF-8.
    void add(std::uint32_t letter) {
        const std::size_t bytes = bytes_of(letter);
        constexpr std::uint32_t kFirst[] = {0, 0, 0xc0, 0xe0, 0xf0};
        for (std::size_t i = bytes; i-- > 1; letter >>= 6) to_[size_ + i] = static_cast<char>(0x80 | (letter & 0x3f));
        to_[size_] = static_cast<char>(kFirst[bytes] | letter);
        size_ += bytes;
    }

  private:
    char *to_;
    std::size_t room_;
    std::size_t size_ = 0;
};

class String {
  public:
    explicit String(const void *string) {
        const auto state = field<std::uint8_t>(string, kStringState);
        if ((state & kIsCompact) == 0) return;
        letter_bytes_ = state >> kKindShift & kKindMask;
        length_ = field<std::size_t>(string, kLength);
        const PythonLayout &layout = python.layout();
        letters_ =
            static_cast<const char *>(string) + ((state & kIsAscii) != 0 ? layout.ascii_text : layout.other_text);
    }
    std::size_t length() const { return length_; }
    std::uint32_t operator[](std::size_t i) const {
        if (letter_bytes_ == 1) return field<std::uint8_t>(letters_, i);
        if (letter_bytes_ == 2) return field<std::uint16_t>(letters_, i * letter_bytes_);
        return field<std::uint32_t>(letters_, i * letter_bytes_);
    }
    void put_begin(Utf8 *to) const {
        for (std::size_t i = 0; i < length_ && to->has_room_for((*this)[i]); ++i) to->add((*this)[i]);
    }
    // As much of the end as fits into so many bytes.
    void put_end(Utf8 *to, std::size_t most) const {
        std::size_t begin = length_;
        for (std::size_t bytes = 0; begin != 0; --begin) {
            bytes += Utf8::bytes_of((*this)[begin - 1]);
            if (bytes > most) break;
        }
        for (std::size_t i = begin; i < length_; ++i) to->add((*this)[i]);
    }

  private:
    const char *letters_ = nullptr;
    std::size_t length_ = 0;
    unsigned letter_bytes_ = 1;
};

class Table {
  public:
    explicit Table(const void *bytes)
        : at_(static_cast<const std::uint8_t *>(bytes) + kBytesText), end_(at_ + field<std::size_t>(bytes, kLength)) {}

    bool has_more() const { return at_ < end_; }
    std::uint8_t take() { return at_ < end_ ? *at_++ : 0; }
    // Six bits a byte, the lowest first; another bit says that more follow.
    std::uint32_t take_number() {
        std::uint32_t number = 0;
        for (unsigned shift = 0;; shift += 6) {
            const std::uint8_t byte = take();
            if (shift < 32) number |= (byte & 0x3fU) << shift;
            if ((byte & 0x40) == 0) return number;
        }
    }
    std::int32_t take_signed() {
        const std::uint32_t number = take_number();
        const auto size = static_cast<std::int32_t>(number >> 1);
        return (number & 1) != 0 ? -size : size;
    }

  private:
    const std::uint8_t *at_;
    const std::uint8_t *end_;
};

// 3.9: steps of instructions and of lines, each in a byte.
std::int32_t line_by_steps(Table table, std::int32_t line, std::int32_t instruction) {
    std::int32_t at = 0;
    while (table.has_more()) {
        at += table.take();
        if (at > instruction) break;
        line += static_cast<std::int8_t>(table.take());
    }
    return line;
}

// 3.10: ranges of instructions, and the step to the line of each; the least step says that a range has no line.
std::int32_t line_by_ranges(Table table, std::int32_t line, std::int32_t instruction) {
    constexpr std::int8_t kNoLine = -128;
    std::int32_t end = 0;
    while (table.has_more()) {
        end += table.take();
        const auto step = static_cast<std::int8_t>(table.take());
        if (step != kNoLine) line += step;
        if (end > instruction) return step == kNoLine ? 0 : line;
    }
    return line;
}

// From 3.11: entries of one byte and what their kind says that follows.
std::int32_t line_by_locations(Table table, std::int32_t line, std::int32_t instruction) {
    constexpr unsigned kNoLocation = 15;
    constexpr unsigned kLong = 14;
    constexpr unsigned kNoColumns = 13;
    constexpr unsigned kFirstOneLine = 10;
    std::int32_t end = 0;
    while (table.has_more()) {
        const std::uint8_t first = table.take();
        const unsigned kind = first >> 3 & 0xf;
        end += static_cast<std::int32_t>((first & 7) + 1) * static_cast<std::int32_t>(kUnitBytes);
        if (kind == kLong || kind == kNoColumns) line += table.take_signed();
        if (kind == kLong) {
            table.take_number();
            table.take_number();
            table.take_number();
        } else if (kind >= kFirstOneLine && kind < kNoColumns) {
            line += static_cast<std::int32_t>(kind - kFirstOneLine);
            table.take();
            table.take();
        } else if (kind < kFirstOneLine) {
            table.take();
        }
        if (end > instruction) return kind == kNoLocation ? 0 : line;
    }
    return line;
}

// 0: no line belongs to the instruction.
std::int32_t line_of(const PythonFrames::Frame &frame) {
    const PythonLayout &layout = python.layout();
    const auto first = field<std::int32_t>(frame.code, layout.code_first_line);
    const Table table(field<const void *>(frame.code, layout.code_lines));
    if (frame.instruction < 0) return first;
    if (python.minor() >= kFirstWithLocations) return line_by_locations(table, first, frame.instruction);
    if (python.minor() < kFirstWithTableOfRanges) return line_by_steps(table, first, frame.instruction);
    return line_by_ranges(table, first, frame.instruction * static_cast<std::int32_t>(kUnitBytes));
}

}  // namespace

std::uint64_t python_place(const PythonFrames::Frame &frame) {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    std::uint64_t mixed = static_cast<std::uint32_t>(frame.instruction);
    const auto mix = [&mixed](std::uint64_t word) {
        mixed = (mixed ^ word) * kMix;
        mixed ^= mixed >> 32;
    };
    const PythonCodeMarks marks(frame.code);
    for (const void *const word : {frame.code, marks.file, marks.name, marks.lines})
        mix(reinterpret_cast<std::uintptr_t>(word));
    mix(static_cast<std::uint32_t>(marks.first_line));
    return mixed;
}

PythonPlaceText::PythonPlaceText(const PythonFrames::Frame &frame) {
    const PythonLayout &layout = python.layout();
    Utf8 name(&text_[0], kMostName);
    String(field<const void *>(frame.code, layout.code_name)).put_begin(&name);
    text_[name.size()] = '\0';
    const std::size_t begin = name.size() + 1;
    Utf8 file(&text_[begin], sizeof text_ - begin);
    String(field<const void *>(frame.code, layout.code_file)).put_end(&file, sizeof text_ - begin);
    size_ = begin + file.size();
    line_ = static_cast<std::uint32_t>(std::max(line_of(frame), 0));
}

}  // namespace gr
