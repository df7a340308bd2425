// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: platform/memory.hpp over libc's mmap, with staged failures.
// Invariant: as memory.hpp promises, to the letter: memory.hpp of this folder tells what a failure leaves behind.
// Must not know: who calls.
#include "fake/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "fake/clock.hpp"
#include "platform/memory.hpp"

namespace gr::fake {
namespace {

constexpr int kGarbage = 0xa5;

struct Stage {
    unsigned calls = 0;
    unsigned passes = kForever;
    unsigned failures = 0;
};
std::mutex counting;  // of stages and purged_ranges, for tests whose threads come here together
std::array<Stage, static_cast<std::size_t>(Call::count)> stages;
std::vector<Range> purged_ranges;
std::vector<Range> collapsed_ranges;
std::vector<Allowed> allowed_ranges;
std::set<const char *> left_out;  // the first bytes of units
std::function<void()> purge_handler;
platform::Collapse collapse_failure = platform::Collapse::not_now;
std::chrono::nanoseconds collapse_delay{0};
std::atomic<std::size_t> mapped{0};

Stage &stage(Call call) { return stages[static_cast<std::size_t>(call)]; }

bool fails(Call call) {
    const std::lock_guard guard(counting);
    Stage &s = stage(call);
    ++s.calls;
    if (s.passes != 0) {
        if (s.passes != kForever) --s.passes;
        return false;
    }
    if (s.failures == 0) return false;
    if (s.failures != kForever) --s.failures;
    return true;
}

char *map_pages(std::size_t bytes, int protection) {
    void *const p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    mapped += bytes;
    return static_cast<char *>(p);
}

std::uintptr_t next_mapping() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void *const probe = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(probe, page);
    return reinterpret_cast<std::uintptr_t>(probe);
}

}  // namespace

void reset() {
    stages = {};
    purged_ranges.clear();
    collapsed_ranges.clear();
    allowed_ranges.clear();
    left_out.clear();
    purge_handler = nullptr;
    collapse_failure = platform::Collapse::not_now;
    collapse_delay = std::chrono::nanoseconds(0);
}
void fail(Call call, unsigned passes, unsigned failures) {
    stage(call).passes = passes;
    stage(call).failures = failures;
}
void on_purge(std::function<void()> handler) { purge_handler = std::move(handler); }
void delay_collapse(std::chrono::nanoseconds delay) { collapse_delay = delay; }
void fail_collapse_with(platform::Collapse failure) { collapse_failure = failure; }
unsigned calls(Call call) { return stage(call).calls; }
const std::vector<Range> &purged() { return purged_ranges; }
const std::vector<Range> &collapsed() { return collapsed_ranges; }
const std::vector<Allowed> &allowed() { return allowed_ranges; }
std::size_t left_out_of_core_files(const char *begin, std::size_t bytes) {
    const std::lock_guard guard(counting);
    const auto units = std::distance(left_out.lower_bound(begin), left_out.lower_bound(begin + bytes));
    return static_cast<std::size_t>(units) * kUnitBytes;
}
std::size_t mapped_bytes() { return mapped; }

}  // namespace gr::fake

namespace gr::platform {

using fake::Call;

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void *reserve(std::size_t bytes) { return fake::fails(Call::reserve) ? nullptr : fake::map_pages(bytes, PROT_NONE); }

char *far_below_mappings(std::size_t bytes) {
    const std::uintptr_t here = fake::next_mapping();
    return here < bytes + kGiB ? nullptr : reinterpret_cast<char *>(here - bytes);
}

char *far_above_mappings(std::size_t bytes) { return reinterpret_cast<char *>(fake::next_mapping() + bytes); }

bool is_unmapped(void *address, std::size_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *const p = mmap(address, bytes, PROT_NONE, kFlags, -1, 0);
    if (p != MAP_FAILED) munmap(p, bytes);
    return p == address;
}

bool map_at(void *address, std::size_t bytes, Access access) {
    if (fake::fails(Call::map_at)) return false;
    const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(address, bytes, protection, kFlags, -1, 0) != address) return false;
    fake::mapped += bytes;
    return true;
}

bool unmap_at(void *address, std::size_t bytes) {
    if (fake::fails(Call::unmap_at) || munmap(address, bytes) != 0) return false;
    fake::mapped -= bytes;
    return true;
}

bool commit(void *address, std::size_t bytes) {
    return !fake::fails(Call::commit) && mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool make_writable_at(void *address, std::size_t bytes) {
    return !fake::fails(Call::commit) && mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool make_readable(void *address, std::size_t bytes) {
    return !fake::fails(Call::make_readable) && mprotect(address, bytes, PROT_READ) == 0;
}

bool purge(void *address, std::size_t bytes) {
    if (fake::purge_handler) fake::purge_handler();
    if (fake::fails(Call::purge)) {
        std::memset(address, fake::kGarbage, bytes);
        return false;
    }
    if (madvise(address, bytes, MADV_DONTNEED) != 0) return false;
    const std::lock_guard guard(fake::counting);
    fake::purged_ranges.push_back({static_cast<char *>(address), bytes});
    return true;
}

// The kernel takes every second page.
bool free_lazily(void *address, std::size_t bytes) {
    if (fake::fails(Call::free_lazily)) return false;
    for (std::size_t at = 0; at < bytes; at += 2 * page_size())
        std::memset(static_cast<char *>(address) + at, 0, page_size());
    return true;
}

bool set_in_core_files(void *address, std::size_t bytes, InCoreFiles wanted) {
    if (fake::fails(Call::set_in_core_files)) return false;
    const std::lock_guard guard(fake::counting);
    const char *const begin = static_cast<const char *>(address);
    for (const char *unit = begin; unit < begin + bytes; unit += kUnitBytes)
        wanted == InCoreFiles::no ? static_cast<void>(fake::left_out.insert(unit))
                                  : static_cast<void>(fake::left_out.erase(unit));
    return true;
}

void allow_huge_pages(void *address, std::size_t bytes, bool allowed) {
    const std::lock_guard guard(fake::counting);
    fake::allowed_ranges.push_back({{static_cast<char *>(address), bytes}, allowed});
}

Collapse collapse(void *address, std::size_t bytes) {
    fake::pass_time(static_cast<std::uint64_t>(fake::collapse_delay.count()));
    if (fake::fails(Call::collapse)) return fake::collapse_failure;
    const std::lock_guard guard(fake::counting);
    fake::collapsed_ranges.push_back({static_cast<char *>(address), bytes});
    return Collapse::done;
}

void *map(std::size_t bytes, std::size_t alignment) {
    const std::size_t slack = alignment > page_size() ? alignment : 0;
    if (fake::fails(Call::map) || bytes + slack < bytes) return nullptr;
    char *const start = fake::map_pages(bytes + slack, PROT_READ | PROT_WRITE);
    if (start == nullptr || slack == 0) return start;
    const std::size_t head =
        align_up(reinterpret_cast<std::uintptr_t>(start), alignment) - reinterpret_cast<std::uintptr_t>(start);
    if (head != 0) unmap(start, head);
    unmap(start + head + bytes, slack - head);
    return start + head;
}

void *remap(void *address, std::size_t old_bytes, std::size_t new_bytes) {
    if (fake::fails(Call::remap)) return nullptr;
    void *const p = mremap(address, old_bytes, new_bytes, MREMAP_MAYMOVE);
    if (p == MAP_FAILED) return nullptr;
    fake::mapped += new_bytes - old_bytes;
    return p;
}

bool remap_in_place(void *address, std::size_t old_bytes, std::size_t new_bytes) {
    if (fake::fails(Call::remap)) return false;
    if (mremap(address, old_bytes, new_bytes, 0) == MAP_FAILED) return false;
    fake::mapped += new_bytes - old_bytes;
    return true;
}

bool unmap(void *address, std::size_t bytes) {
    if (fake::fails(Call::unmap) || munmap(address, bytes) != 0) return false;
    fake::mapped -= bytes;
    return true;
}

}  // namespace gr::platform
