// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reads /proc/self/maps, and the ELF headers that the loader mapped.
#include "profile/code_files.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "base/bits.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

std::uintptr_t take_hexadecimal(const char **text) {
    std::uintptr_t value = 0;
    for (;; ++*text) {
        const char c = **text;
        if (c >= '0' && c <= '9') {
            value = value * 16 + static_cast<std::uintptr_t>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = value * 16 + static_cast<std::uintptr_t>(c - 'a' + 10);
        } else {
            return value;
        }
    }
}

const char *behind_word(const char *text) {
    while (*text != '\0' && *text != ' ') ++text;
    while (*text == ' ') ++text;
    return text;
}

// The program headers of the file that was loaded at `base`.
class Headers {
  public:
    explicit Headers(std::uintptr_t base) {
        ElfW(Ehdr) file;
        if (!platform::read_own(base, &file, sizeof file) || std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
            file.e_phentsize != sizeof headers_[0])
            return;
        const unsigned count = file.e_phnum < kMost ? file.e_phnum : kMost;
        if (platform::read_own(base + file.e_phoff, &headers_[0], count * sizeof headers_[0])) count_ = count;
        // The distance from the addresses in the file.
        for (unsigned i = count_; i-- != 0;) {
            if (headers_[i].p_type == PT_LOAD && headers_[i].p_offset == 0) moved_ = base - headers_[i].p_vaddr;
        }
    }

    unsigned count() const { return count_; }
    const ElfW(Phdr) &operator[](unsigned i) const { return headers_[i]; }
    std::uintptr_t address_of(const ElfW(Phdr) & header) const { return moved_ + header.p_vaddr; }

  private:
    static constexpr unsigned kMost = 20;

    ElfW(Phdr) headers_[kMost];
    unsigned count_ = 0;
    std::uintptr_t moved_ = 0;
};

// Finds the build id among ELF notes and writes its first `most` bytes to `out`, in hexadecimal.
void write_build_id(const char *notes, std::size_t size, std::size_t alignment, char *out, std::size_t most) {
    constexpr char kOwner[] = "GNU";
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes + at, sizeof note);
        const std::size_t name = at + sizeof note;
        const std::size_t id = name + align_up(note.n_namesz, alignment);
        const std::size_t end = id + align_up(note.n_descsz, alignment);
        if (end > size || end < at) return;
        at = end;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof kOwner ||
            std::memcmp(notes + name, kOwner, sizeof kOwner) != 0)
            continue;
        for (std::size_t i = 0; i < note.n_descsz && i < most; ++i) {
            const auto byte = static_cast<unsigned char>(notes[id + i]);
            *out++ = "0123456789abcdef"[byte >> 4];
            *out++ = "0123456789abcdef"[byte & 15];
        }
        *out = '\0';
        return;
    }
}

}  // namespace

CodeFiles::CodeFiles(Room *room) : room_(room), file_(platform::open_file("/proc/self/maps")) {}

CodeFiles::~CodeFiles() {
    if (file_ >= 0) platform::close_file(file_);
}

// nullptr: there is no further line. A line longer than the room loses its start, and parse refuses the rest.
const char *CodeFiles::next_line() {
    char *const text = &room_->text[0];
    for (;;) {
        if (char *const end = static_cast<char *>(std::memchr(text + at_, '\n', end_ - at_))) {
            const char *const line = text + at_;
            *end = '\0';
            at_ = static_cast<std::size_t>(end - text) + 1;
            return line;
        }
        if (at_ == 0 && end_ == sizeof room_->text) at_ = end_;
        std::memmove(text, text + at_, end_ - at_);
        end_ -= at_;
        at_ = 0;
        const long read = file_ < 0 ? 0 : platform::read_some(file_, text + end_, sizeof room_->text - end_);
        if (read <= 0) return nullptr;
        end_ += static_cast<std::size_t>(read);
    }
}

// A line looks like "55d8c0a00000-55d8c0a02000 r-xp 00002000 08:01 1234   /usr/bin/program".
bool CodeFiles::parse(const char *text, Line *line) {
    line->begin = take_hexadecimal(&text);
    if (*text != '-') return false;
    line->end = take_hexadecimal(&++text);
    if (*text != ' ' || std::strlen(text) < sizeof " r-xp ") return false;
    line->is_code = text[3] == 'x';
    text = behind_word(text + 1);
    line->offset = take_hexadecimal(&text);
    text = behind_word(behind_word(text));
    line->file = take_hexadecimal(&text);  // the inode in decimal digits; the value is only compared
    line->path = behind_word(text);
    return *line->path == '/';
}

void CodeFiles::find_build_id(std::uintptr_t base) {
    room_->build_id[0] = '\0';
    if (base == 0) return;
    const Headers headers(base);
    for (unsigned i = 0; i < headers.count() && room_->build_id[0] == '\0'; ++i) {
        char notes[256];
        if (headers[i].p_type != PT_NOTE || headers[i].p_memsz == 0) continue;
        const std::size_t size = headers[i].p_memsz < sizeof notes ? headers[i].p_memsz : sizeof notes;
        const std::size_t alignment = headers[i].p_align == 8 ? 8 : 4;
        if (platform::read_own(headers.address_of(headers[i]), &notes[0], size))
            write_build_id(&notes[0], size, alignment, &room_->build_id[0], sizeof room_->build_id / 2);
    }
}

// The kernel lists the mapping of a file's first bytes before the mapping of its code.
bool CodeFiles::next(CodeFile *out) {
    while (const char *const text = next_line()) {
        Line line;
        if (!parse(text, &line)) continue;
        if (line.offset == 0) {
            base_ = line.begin;
            file_of_base_ = line.file;
        }
        if (!line.is_code) continue;
        find_build_id(line.file == file_of_base_ ? base_ : 0);
        *out = {line.begin, line.end, line.offset, line.path, &room_->build_id[0]};
        return true;
    }
    return false;
}

}  // namespace gr
