// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reads /proc/thread-self/pagemap, because /proc/self has none once the first thread has ended.
#include "platform/world/written_pages.hpp"

#include <sys/syscall.h>

#include "platform/memory.hpp"
#include "platform/syscall.hpp"
#include "platform/world/listing.hpp"

namespace gr::platform {

WrittenPages::WrittenPages() : fd_(open_listing("/proc/thread-self/pagemap")), page_bytes_(page_size()) {}

WrittenPages::~WrittenPages() {
    if (opened()) system_call(SYS_close, fd_);
}

std::size_t WrittenPages::read(const char *from, const char *end) {
    const std::size_t pages = static_cast<std::size_t>(end - from) / page_bytes_;
    const std::size_t wanted = pages < entries_.size() ? pages : entries_.size();
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(from) / page_bytes_ * sizeof entries_[0];
    const long bytes = system_call(SYS_pread64, fd_, entries_.data(), wanted * sizeof entries_[0], offset);
    return bytes <= 0 ? 0 : static_cast<std::size_t>(bytes) / sizeof entries_[0];
}

// Excludes the kernel's page of zeroes: the process has only read it.
long WrittenPages::scan(Range *part, Of of) {
    PageScan wanted;
    wanted.inverted = wanted.all_of = page::kIsZeroPage | (of == Of::file ? page::kIsOfFile : 0);
    wanted.any_of = page::kIsPresent | page::kIsSwapped;
    wanted.returned = page::kIsSwapped;  // rows differ in nothing else
    const long found = wanted.run(fd_, *part, rows_, &part->begin);
    scans_ = found >= 0;
    return found;
}

}  // namespace gr::platform
