// SPDX-License-Identifier: Apache-2.0 OR MIT
// Only private anonymous mappings. Only free_lazily() uses MADV_FREE, whose pages still count as resident.
#include "platform/memory.hpp"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "platform/process.hpp"
#include "platform/syscall.hpp"

namespace gr::platform {
namespace {

// Without MAP_NORESERVE, so that the kernel checks memory that becomes writable against what the machine has, and
// refuses in time.
constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
constexpr int kFixedNoReplace = 0x100000;  // of kernel 4.17; an older one takes the address as a hint

void *map_pages(std::size_t bytes, int protection) {
    const long result = system_call(SYS_mmap, nullptr, bytes, protection, kAnonymous, -1, 0);
    return result < 0 ? nullptr : reinterpret_cast<void *>(result);
}

// Replaces memory that can be written by new memory.
bool map_over(void *address, std::size_t bytes) {
    return system_call(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, kAnonymous | MAP_FIXED, -1, 0) >= 0;
}

// Whether the kernel locks each new mapping (mlockall). The kernel refuses this advice for locked memory.
bool locks_new_mappings() {
    void *const page = map_pages(page_size(), PROT_NONE);
    if (page == nullptr) return true;
    const bool locks = system_call(SYS_madvise, page, page_size(), MADV_DONTNEED) == -EINVAL;
    unmap_at(page, page_size());
    return locks;
}

// A kernel older than 5.18 takes no locked pages back. Pages that the program has locked (mlock) and not unlocked would
// be locked for their next user, too, and count against the limit on locked memory (RLIMIT_MEMLOCK), so new memory takes
// their place. In a process that locks all its memory this is of no use, and would make all of it resident.
// Returns the kernel's answer.
long advise_not_needed(void *address, std::size_t bytes) {
    constexpr int kDontNeedLocked = 24;
    long result = system_call(SYS_madvise, address, bytes, MADV_DONTNEED);
    if (result != -EINVAL) return result;
    result = system_call(SYS_madvise, address, bytes, kDontNeedLocked);
    if (result == 0 && !locks_new_mappings()) map_over(address, bytes);
    return result;
}

// Whether this advice is of no use: some emulators accept it and do nothing, and a sandbox may refuse it. One page
// tells, at the first purge.
bool is_advice_useless() {
    enum class Answer : std::uint8_t { unknown, no, yes };
    // Relaxed: threads that ask at the same time get the same answer, each by a page of its own.
    static constinit std::atomic<Answer> known{Answer::unknown};
    const Answer answer = known.load(std::memory_order_relaxed);
    if (answer != Answer::unknown) [[likely]]
        return answer == Answer::yes;
    auto *const page = static_cast<volatile char *>(map_pages(page_size(), PROT_READ | PROT_WRITE));
    if (page == nullptr) return false;
    *page = 1;
    const bool useless = advise_not_needed(const_cast<char *>(page), page_size()) != 0 || *page != 0;
    unmap_at(const_cast<char *>(page), page_size());
    known.store(useless ? Answer::yes : Answer::no, std::memory_order_relaxed);
    return useless;
}

// Where the kernel would put a mapping now; 0: nowhere.
std::uintptr_t next_mapping() {
    void *const probe = map_pages(page_size(), PROT_NONE);
    if (probe != nullptr) unmap(probe, page_size());
    return reinterpret_cast<std::uintptr_t>(probe);
}

}  // namespace

std::size_t page_size() {
    // Before relocation getauxval cannot be called; no page is larger than a unit.
    return is_relocated() ? getauxval(AT_PAGESZ) : kUnitBytes;
}

void *reserve(std::size_t bytes) {
    void *const p = map_pages(bytes, PROT_NONE);
    if (p != nullptr) system_call(SYS_madvise, p, bytes, MADV_DONTDUMP);
    return p;
}

char *far_below_mappings(std::size_t bytes) {
    constexpr std::uintptr_t kLowest = kGiB;  // below lie programs that were linked at a fixed address
    const std::uintptr_t here = next_mapping();
    return here < kLowest || here - kLowest < bytes ? nullptr : reinterpret_cast<char *>(here - bytes);
}

char *far_above_mappings(std::size_t bytes) {
    const std::uintptr_t here = next_mapping();
    return here == 0 || here + bytes < here ? nullptr : reinterpret_cast<char *>(here + bytes);
}

// Maps the range for a moment. The kernel reports a mapping in the way (EEXIST) before it checks a limit.
bool is_unmapped(void *address, std::size_t bytes) {
    const long result = system_call(SYS_mmap, address, bytes, PROT_NONE, kAnonymous | kFixedNoReplace, -1, 0);
    if (result < 0) return result != -EEXIST;
    unmap_at(reinterpret_cast<void *>(result), bytes);
    return reinterpret_cast<void *>(result) == address;
}

bool map_at(void *address, std::size_t bytes, Access access) {
    const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
    const long result = system_call(SYS_mmap, address, bytes, protection, kAnonymous | kFixedNoReplace, -1, 0);
    if (result < 0) return false;
    void *const mapped = reinterpret_cast<void *>(result);
    if (mapped != address) {
        unmap(mapped, bytes);
        return false;
    }
    if (access == Access::read) system_call(SYS_madvise, address, bytes, MADV_DONTDUMP);
    return true;
}

bool unmap_at(void *address, std::size_t bytes) { return system_call(SYS_munmap, address, bytes) == 0; }

bool commit(void *address, std::size_t bytes) {
    if (system_call(SYS_mprotect, address, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    system_call(SYS_madvise, address, bytes, MADV_DODUMP);
    return true;
}

bool make_writable_at(void *address, std::size_t bytes) {
    if (map_over(address, bytes)) return true;
    // If the kernel counts memory strictly, it removes the old mapping before it refuses the new one.
    system_call(SYS_mmap, address, bytes, PROT_READ, kAnonymous | MAP_FIXED, -1, 0);
    return false;
}

bool make_readable(void *address, std::size_t bytes) {
    return system_call(SYS_mprotect, address, bytes, PROT_READ) == 0;
}

// Nothing is mapped over a part that is not mapped (ENOMEM): another thread may map something there at any time.
bool purge(void *address, std::size_t bytes) {
    const long result = is_advice_useless() ? -EPERM : advise_not_needed(address, bytes);
    return result == 0 || (result != -ENOMEM && map_over(address, bytes));
}

bool free_lazily(void *address, std::size_t bytes) { return system_call(SYS_madvise, address, bytes, MADV_FREE) == 0; }

bool set_in_core_files(void *address, std::size_t bytes, InCoreFiles wanted) {
    const int advice = wanted == InCoreFiles::yes ? MADV_DODUMP : MADV_DONTDUMP;
    return system_call(SYS_madvise, address, bytes, advice) == 0;
}

void allow_huge_pages(void *address, std::size_t bytes, bool allowed) {
    system_call(SYS_madvise, address, bytes, allowed ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Collapse collapse(void *address, std::size_t bytes) {
    constexpr int kMadvCollapse = 25;  // MADV_COLLAPSE, of kernel 6.1, which is younger than Debian 12's libc
    const long result = system_call(SYS_madvise, address, bytes, kMadvCollapse);
    if (result == 0) return Collapse::done;
    return result == -EINVAL ? Collapse::impossible : Collapse::not_now;
}

void *map(std::size_t bytes, std::size_t alignment) {
    const std::size_t slack = alignment > page_size() ? alignment - page_size() : 0;
    if (bytes + slack < bytes) return nullptr;
    char *const start = static_cast<char *>(map_pages(bytes + slack, PROT_READ | PROT_WRITE));
    if (start == nullptr || slack == 0) return start;
    const std::size_t head =
        align_up(reinterpret_cast<std::uintptr_t>(start), alignment) - reinterpret_cast<std::uintptr_t>(start);
    if (head != 0) unmap(start, head);
    if (head != slack) unmap(start + head + bytes, slack - head);
    return start + head;
}

void *remap(void *address, std::size_t old_bytes, std::size_t new_bytes) {
    const long result = system_call(SYS_mremap, address, old_bytes, new_bytes, MREMAP_MAYMOVE);
    return result < 0 ? nullptr : reinterpret_cast<void *>(result);
}

bool remap_in_place(void *address, std::size_t old_bytes, std::size_t new_bytes) {
    return system_call(SYS_mremap, address, old_bytes, new_bytes, 0) >= 0;
}

bool unmap(void *address, std::size_t bytes) { return unmap_at(address, bytes) || advise_not_needed(address, bytes); }

}  // namespace gr::platform
