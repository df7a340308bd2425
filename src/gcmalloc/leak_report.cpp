// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/leak_report.hpp"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include <cstring>

#include "base/bits.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "granary/wire/leaks.h"
#include "instance/statistics_text.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kPathBytes = 4096;

const void *as_pointer(std::uintptr_t address) { return reinterpret_cast<const void *>(address); }

class ReportFile {
  public:
    explicit ReportFile(const char *path)
        : fd_(open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR)) {}
    ~ReportFile() {
        flush();
        if (fd_ >= 0) close(fd_);
    }
    ReportFile(const ReportFile &) = delete;
    ReportFile &operator=(const ReportFile &) = delete;

    bool opened() const { return fd_ >= 0; }
    template <class Piece>
    ReportFile &operator<<(const Piece &piece) {
        text_ << piece;
        if (text_.size() > kFlushAt) flush();
        return *this;
    }

  private:
    static constexpr std::size_t kFlushAt = 4096;  // a piece that follows may be as long as a path

    void flush() {
        if (fd_ >= 0) platform::write_all(fd_, text_.data(), text_.size());
        text_.clear();
    }

    int fd_;
    TextBuffer<kFlushAt + kPathBytes + 64> text_;
};

void put_process(ReportFile &file) {
    char command[kCommandBytes];
    platform::command_line(&command[0], sizeof command);
    make_printable(&command[0], std::strlen(&command[0]));
    file << "process " << platform::process_id() << ' ' << &command[0] << '\n';
}

void put_build_id(ReportFile &file, const dl_phdr_info &info) {
    constexpr char kOwner[] = "GNU";
    bool found = false;
    for (unsigned i = 0; i < info.dlpi_phnum && !found; ++i) {
        const ElfW(Phdr) &header = info.dlpi_phdr[i];
        if (header.p_type != PT_NOTE) continue;
        const auto *at = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr);
        for (const char *const end = at + header.p_memsz; at + sizeof(ElfW(Nhdr)) < end && !found;) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char *const name = at + sizeof note;
            const char *const id = name + align_up(std::size_t{note.n_namesz}, header.p_align);
            at = id + align_up(std::size_t{note.n_descsz}, header.p_align);
            found = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof kOwner &&
                    std::memcmp(name, kOwner, sizeof kOwner) == 0;
            for (std::size_t byte = 0; found && byte < note.n_descsz; ++byte) {
                const auto bits = static_cast<unsigned char>(id[byte]);
                file << "0123456789abcdef"[bits >> 4] << "0123456789abcdef"[bits & 15];
            }
        }
    }
    if (!found) file << '-';
}

void put_name(ReportFile &file, const char *name) {
    char path[kPathBytes];
    if (*name == '\0') {
        const ssize_t bytes = readlink("/proc/self/exe", &path[0], sizeof path - 1);
        path[bytes < 0 ? 0 : bytes] = '\0';
        name = &path[0];
    }
    file << ' ' << name << '\n';
}

int put_module(dl_phdr_info *info, std::size_t, void *to) {
    auto &file = *static_cast<ReportFile *>(to);
    std::uintptr_t begin = UINTPTR_MAX;
    std::uintptr_t end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
        const std::uintptr_t at = info->dlpi_addr + header.p_vaddr;
        begin = at < begin ? at : begin;
        end = at + header.p_memsz > end ? at + header.p_memsz : end;
    }
    file << "module " << as_pointer(info->dlpi_addr) << ' ' << as_pointer(begin) << ' ' << as_pointer(end) << ' ';
    put_build_id(file, *info);
    put_name(file, info->dlpi_name);
    return 0;
}

void put_stack(ReportFile &file, const Stacks &stacks, StackNumber number) {
    if (number == 0) return;
    file << "stack " << number;
    for (const std::uintptr_t call : stacks.calls(number)) file << ' ' << as_pointer(call);
    file << '\n';
}

void put_leaks(ReportFile &file, LeakSearch &leaks, const Stacks &stacks) {
    file << "live " << leaks.live_blocks() << ' ' << leaks.live_bytes() << '\n';
    leaks.for_each_group([&](const Leak &leak, std::uint64_t blocks, std::uint64_t bytes) {
        file << "leak " << (leak.is_direct ? "direct " : "indirect ") << blocks << ' ' << bytes << ' ' << leak.stack
             << ' ' << leak.owner << '\n';
        put_stack(file, stacks, leak.stack);
    });
    if (leaks.count() != 0) dl_iterate_phdr(put_module, &file);
}

}  // namespace

void write_report(const char *folder, LeakSearch &leaks, const Stacks &stacks, const char *failure) {
    static unsigned number = 0;
    TextBuffer<kPathBytes> path;
    TextBuffer<kPathBytes> unfinished;
    path << folder << '/' << platform::process_id() << '.' << ++number;
    for (std::size_t i = 0; i < path.size(); ++i) unfinished << path.data()[i];
    unfinished << ".part" << '\0';
    path << '\0';
    {
        ReportFile file(unfinished.data());
        if (!file.opened()) return;
        file << "granary-leaks " << std::size_t{GR_LEAKS_VERSION} << '\n';
        put_process(file);
        if (failure != nullptr) {
            file << "failed " << failure << '\n';
        } else {
            put_leaks(file, leaks, stacks);
        }
        file << "end\n";
    }
    rename(unfinished.data(), path.data());
}

}  // namespace gr
