// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/leak_report.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstring>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "gcmalloc/loaded_modules.hpp"
#include "granary/wire/leaks.h"
#include "instance/statistics_text.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kPathBytes = LoadedModule::kPathBytes;

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
    TextBuffer<kFlushAt + kPathBytes + LoadedModule::kBuildIdBytes + 128> text_;
};

void put_process(ReportFile &file) {
    char command[kCommandBytes];
    platform::command_line(&command[0], sizeof command);
    make_printable(&command[0], std::strlen(&command[0]));
    file << "process " << platform::process_id() << ' ' << &command[0] << '\n';
}

void put_module(ReportFile &file, const LoadedModule &module) {
    file << as_pointer(module.base) << ' ' << as_pointer(module.begin) << ' ' << as_pointer(module.end) << ' '
         << &module.build_id[0] << ' ' << &module.path[0] << '\n';
}

void put_modules(ReportFile &file, const UnloadedModules &unloaded) {
    LoadedModules loaded;
    loaded.list();
    for (const LoadedModule &module : loaded.all()) put_module(file << "module ", module);
    for (const auto *at = unloaded.newest(); at != nullptr; at = at->before)
        put_module(file << "unloaded " << at->last.load(std::memory_order_relaxed) << ' ', at->module);
}

void put_stack(ReportFile &file, const Stacks &stacks, StackNumber number) {
    if (number == 0) return;
    file << "stack " << number << ' ' << stacks.ordinal(number);
    for (const std::uintptr_t call : stacks.calls(number)) file << ' ' << as_pointer(call);
    file << '\n';
}

void put_leaks(ReportFile &file, LeakSearch &leaks, const Origins &origins) {
    file << "live " << leaks.live_blocks() << ' ' << leaks.live_bytes() << '\n';
    leaks.for_each_group([&](const Leak &leak, std::uint64_t blocks, std::uint64_t bytes) {
        file << "leak " << (leak.is_direct ? "direct " : "indirect ") << blocks << ' ' << bytes << ' ' << leak.stack
             << ' ' << leak.owner << '\n';
        put_stack(file, origins.stacks(), leak.stack);
    });
    if (leaks.count() != 0) put_modules(file, origins.unloaded());
}

}  // namespace

void write_report(const char *folder, LeakSearch &leaks, const Origins &origins, const char *failure) {
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
            put_leaks(file, leaks, origins);
        }
        file << "end\n";
    }
    rename(unfinished.data(), path.data());
}

}  // namespace gr
