// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/mapped_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/failure.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"

namespace gr::trace {

namespace {

[[noreturn]] void fail_to_read(const std::string &path, int error) {
    const std::string why = error == EINVAL ? "it is not a regular file" : std::generic_category().message(error);
    throw tool::Failure(tool::ExitCode::not_runnable, fmt::format("cannot read {}: {}", tool::in_quotes(path), why));
}

// Those that are open, as far as there is room.
std::array<std::atomic<const MappedFile *>, 8> open_files;

void on_bus_error(int number, siginfo_t *info, void * /*context*/) {
    for (const auto &one : open_files) {
        const MappedFile *const file = one.load();
        if (file != nullptr && file->holds(info->si_addr)) file->end_cut_short();
    }
    std::signal(number, SIG_DFL);  // it comes again
}

void replace_open(const MappedFile *before, const MappedFile *after) {
    for (auto &one : open_files) {
        const MappedFile *expected = before;
        if (one.compare_exchange_strong(expected, after)) return;
    }
}

}  // namespace

MappedFile::MappedFile(const std::string &path) {
    const int file = tool::open_regular_file(path);
    if (file < 0) fail_to_read(path, errno);
    struct stat status {};
    int error = ::fstat(file, &status) != 0 ? errno : 0;
    if (error == 0 && status.st_size > 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        void *const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at == MAP_FAILED) {
            error = errno;
        } else {
            bytes_ = {static_cast<const std::uint8_t *>(at), size};
        }
    }
    ::close(file);
    if (error != 0) fail_to_read(path, error);
    if (bytes_.empty()) return;
    last_words_ = fmt::format("granary: {} was truncated while it was read: open it again\n", tool::in_quotes(path));
    replace_open(nullptr, this);
    struct sigaction action {};
    action.sa_sigaction = &on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
}

void MappedFile::end_cut_short() const {
    [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, last_words_.data(), last_words_.size());
    ::_exit(static_cast<int>(tool::ExitCode::not_runnable));
}

MappedFile::~MappedFile() {
    replace_open(this, nullptr);
    if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t *>(bytes_.data()), bytes_.size());
}

}  // namespace gr::trace
