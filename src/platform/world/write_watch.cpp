// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses userfaultfd's asynchronous write protection and pagemap's PAGEMAP_SCAN.
#include "platform/world/write_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <string_view>

#include "base/text.hpp"
#include "platform/memory.hpp"
#include "platform/syscall.hpp"
#include "platform/world/listing.hpp"

namespace gr::platform {
namespace {

// Newer than the headers of the oldest system that builds this: names of our own for what the kernel's headers say.
constexpr std::uint64_t kAsynchronous = std::uint64_t{1} << 15;  // UFFD_FEATURE_WP_ASYNC, Linux 6.7
constexpr unsigned kUserModeOnly = 1;                            // UFFD_USER_MODE_ONLY

}  // namespace

// Not /proc/self: a first thread that has ended has no pagemap.
WriteWatch::Pages::Pages() : fd_(open_listing("/proc/thread-self/pagemap")) {}

WriteWatch::Pages::~Pages() {
    if (fd_ >= 0) system_call(SYS_close, fd_);
}

const char *WriteWatch::begin(Range whole) {
    fd_ = system_call(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly);
    if (fd_ < 0) return "the kernel or a seccomp filter refuses userfaultfd";
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = kAsynchronous;
    uffdio_register all{};
    all.range.start = reinterpret_cast<std::uintptr_t>(whole.begin);
    all.range.len = whole.bytes();
    all.mode = UFFDIO_REGISTER_MODE_WP;
    Range first{whole.begin, whole.begin + page_size()};
    const char *lack = nullptr;
    if (system_call(SYS_ioctl, fd_, std::size_t{UFFDIO_API}, &api) < 0) {
        lack = "userfaultfd has no asynchronous write protection, which needs Linux 6.7";
    } else if (system_call(SYS_ioctl, fd_, std::size_t{UFFDIO_REGISTER}, &all) < 0) {
        lack = "userfaultfd refuses the range of the heap";
    } else if (look(Pages(), &first, Then::leave) < 0) {
        lack = "/proc/self/pagemap does not report writes";
    }
    if (lack != nullptr) {
        close();
    } else {
        // In a huge page, one write would count for the whole page.
        allow_huge_pages(const_cast<char *>(whole.begin), whole.bytes(), false);
    }
    return lack;
}

void WriteWatch::forget() { close(); }

// The program may have closed the descriptor, and opened another file under its number.
void WriteWatch::close() {
    constexpr std::string_view kWanted = "anon_inode:[userfaultfd]";
    if (fd_ < 0) return;
    TextBuffer<64> path;
    path << "/proc/self/fd/" << static_cast<std::size_t>(fd_) << '\0';
    char target[kWanted.size() + 1];
    const long length = system_call(SYS_readlinkat, AT_FDCWD, path.data(), &target[0], sizeof target);
    if (length > 0 && std::string_view(&target[0], static_cast<std::size_t>(length)) == kWanted)
        system_call(SYS_close, fd_);
    fd_ = -1;
}

// A piece that the kernel refuses stays watched.
void WriteWatch::leave(Range part) {
    while (!part.is_empty()) {
        const std::size_t bytes = part.bytes() > kMostBytes ? kMostBytes : part.bytes();
        uffdio_writeprotect no_more{};
        no_more.range.start = reinterpret_cast<std::uintptr_t>(part.begin);
        no_more.range.len = bytes;
        system_call(SYS_ioctl, fd_, std::size_t{UFFDIO_WRITEPROTECT}, &no_more);
        part.begin += bytes;
    }
}

long WriteWatch::look(const Pages &pages, Range *part, Then then) {
    const char *const stop = part->bytes() > kMostBytes ? part->begin + kMostBytes : part->end;
    PageScan scan;
    scan.flags = PageScan::kOnlyAsynchronous | (then == Then::watch_on ? PageScan::kProtectFound : 0);
    scan.all_of = scan.returned = page::kIsWritten;
    scan.any_of = page::kIsPresent | page::kIsSwapped;
    return scan.run(pages.fd(), {part->begin, stop}, rows_, &part->begin);
}

}  // namespace gr::platform
