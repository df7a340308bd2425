// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      counts what a program requests of the malloc that comes next in the loader's order, and writes it as JSON
//            to the file that REQUESTED_FILE names when the program ends. Question: how many bytes did the program want
//            at once (Hoard's U), how many was there room for in its blocks, how many did the allocator hold (A)?
//            C++ programs need libstdc++ preloaded between the two, whose operators call malloc; else an allocator's
//            own operators would not be seen.
// Invariant: requests pass unchanged and nothing is added to a block: sizes lie in a table of our own. Every live block
//            has one entry, set after the allocator hands it out and cleared before it gets it back, so that an entry
//            has one owner at any time and needs no lock.
// Must not know: any workload; which allocator is measured.
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "held.hpp"

namespace {

using namespace gr::bench;

// Bytes that come and go, and the most there ever were.
class Level {
  public:
    std::size_t add(std::size_t bytes) {
        const std::size_t now = now_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        raise(now);
        return now;
    }
    void subtract(std::size_t bytes) { now_.fetch_sub(bytes, std::memory_order_relaxed); }
    void raise(std::size_t bytes) {
        std::size_t peak = this->peak();
        while (peak < bytes && !peak_.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
        }
    }
    std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::size_t> now_{0};
    std::atomic<std::size_t> peak_{0};
};

// abort tells nothing by itself, but allocates nothing either.
[[noreturn]] void fail(std::string_view what) {
    static_cast<void>(write(STDERR_FILENO, what.data(), what.size()));
    std::abort();
}

// The malloc that is measured.
struct Next {
    decltype(::malloc) *malloc;
    decltype(::calloc) *calloc;
    decltype(::realloc) *realloc;
    decltype(::aligned_alloc) *aligned_alloc;
    decltype(::memalign) *memalign;
    decltype(::posix_memalign) *posix_memalign;
    decltype(::free) *free;
    decltype(::malloc_usable_size) *usable_size;
};

// One for each 8 bytes of address space: size + 1, or 0 where no block begins. A leaf has those of 1 GiB.
using Entry = std::uint32_t;
using Leaf = Entry *;
constexpr Entry kHuge = UINT32_MAX;  // the usable size stands for the size
constexpr unsigned kEntryShift = 3;
constexpr unsigned kLeafShift = 30;
constexpr unsigned kAddressBits = 48;
constexpr std::size_t kLeafEntries = std::size_t{1} << (kLeafShift - kEntryShift);

constinit Next next{};
constinit bool started = false;
constinit std::atomic<Leaf> leaves[std::size_t{1} << (kAddressBits - kLeafShift)];
constinit Asked asked{};
constinit Level requested;
constinit Level usable;
constinit Level held;
constinit std::atomic<std::uint64_t> requests{0};
constinit std::atomic<std::uint64_t> total_bytes{0};

template <typename Function>
void find(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
    if (function == nullptr) fail("requested: no malloc comes next\n");
}

// Only what is touched is in memory.
Leaf add_leaf(std::atomic<Leaf> &place) {
    constexpr std::size_t kBytes = kLeafEntries * sizeof(Entry);
    void *const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("requested: no address space for the table of sizes\n");
    Leaf there = nullptr;
    if (place.compare_exchange_strong(there, static_cast<Leaf>(memory))) return static_cast<Leaf>(memory);
    munmap(memory, kBytes);
    return there;
}

Entry &entry_of(void *block) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    std::atomic<Leaf> &place = leaves[address >> kLeafShift];
    const Leaf there = place.load(std::memory_order_acquire);
    return (there != nullptr ? there : add_leaf(place))[address >> kEntryShift & (kLeafEntries - 1)];
}

// By the first request of all, which the loader makes when there is one thread.
void start() {
    find(next.malloc, "malloc");
    find(next.calloc, "calloc");
    find(next.realloc, "realloc");
    find(next.aligned_alloc, "aligned_alloc");
    find(next.memalign, "memalign");
    find(next.posix_memalign, "posix_memalign");
    find(next.free, "free");
    find(next.usable_size, "malloc_usable_size");
    asked = who_tells_what_is_held(reinterpret_cast<void *>(next.malloc));
    started = true;
}

const Next &measured() {
    if (!started) start();
    return next;
}

std::size_t size_of(void *block, Entry entry) { return entry == kHuge ? next.usable_size(block) : entry - 1; }

// Some allocators do not know the block yet when the loader has just started the program.
std::size_t room_of(void *block, Entry entry) { return std::max(next.usable_size(block), size_of(block, entry)); }

// Asking costs what a walk through the allocator costs. So it is done when there is a sixteenth more than last time,
// and once in so many requests.
void sample(std::size_t live, std::uint64_t request) {
    constexpr std::uint64_t kRequests = 1 << 16;
    static constinit std::atomic<std::size_t> due{0};
    static constinit std::atomic<bool> busy{false};
    if (asked.bytes == nullptr || (live < due.load(std::memory_order_relaxed) && request % kRequests != 0)) return;
    if (busy.exchange(true, std::memory_order_acquire)) return;
    if (live >= due.load(std::memory_order_relaxed)) due.store(live + live / 16, std::memory_order_relaxed);
    held.raise(asked.bytes());
    busy.store(false, std::memory_order_release);
}

// Now live in all.
std::size_t enter(void *block, Entry entry) {
    entry_of(block) = entry;
    usable.add(room_of(block, entry));
    return requested.add(size_of(block, entry));
}

void *handed_out(void *block, std::size_t size) {
    static constinit thread_local bool inside = false;
    if (block == nullptr || inside) return block;  // inside: to answer us, the allocator itself allocates
    inside = true;
    const std::size_t live = enter(block, size < kHuge - 1 ? static_cast<Entry>(size + 1) : kHuge);
    total_bytes.fetch_add(size, std::memory_order_relaxed);
    sample(live, requests.fetch_add(1, std::memory_order_relaxed));
    inside = false;
    return block;
}

// What the entry was, for a block that is handed back.
Entry forget(void *block) {
    const Entry entry = block == nullptr ? 0 : std::exchange(entry_of(block), 0);
    if (entry != 0) {
        requested.subtract(size_of(block, entry));
        usable.subtract(room_of(block, entry));
    }
    return entry;
}

std::size_t page() { return static_cast<std::size_t>(getpagesize()); }

[[gnu::destructor]] void report() {
    const char *const path = getenv("REQUESTED_FILE");
    if (path == nullptr) return;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail("requested: REQUESTED_FILE cannot be written\n");
    if (asked.bytes != nullptr) held.raise(asked.bytes());
    dprintf(file, "{\"requests\": %llu, \"total_bytes\": %llu, \"requested_peak\": %zu, \"usable_peak\": %zu, ",
            static_cast<unsigned long long>(requests.load()), static_cast<unsigned long long>(total_bytes.load()),
            requested.peak(), usable.peak());
    dprintf(file, "\"held_peak\": %zu, \"asked\": \"%s\"}\n", held.peak(), asked.what != nullptr ? asked.what : "");
    close(file);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void *malloc(size_t size) noexcept { return handed_out(measured().malloc(size), size); }

void *calloc(size_t number, size_t size) noexcept { return handed_out(measured().calloc(number, size), number * size); }

void free(void *block) noexcept {
    measured();
    forget(block);
    next.free(block);
}

void *realloc(void *block, size_t size) noexcept {
    measured();
    const Entry entry = forget(block);
    void *const moved = next.realloc(block, size);
    if (moved == nullptr && size != 0 && entry != 0) enter(block, entry);  // it stands
    return handed_out(moved, size);
}

void *reallocarray(void *block, size_t number, size_t size) noexcept {
    size_t bytes = 0;
    return realloc(block, __builtin_mul_overflow(number, size, &bytes) ? SIZE_MAX : bytes);
}

void *aligned_alloc(size_t alignment, size_t size) noexcept {
    return handed_out(measured().aligned_alloc(alignment, size), size);
}

void *memalign(size_t alignment, size_t size) noexcept {
    return handed_out(measured().memalign(alignment, size), size);
}

int posix_memalign(void **result, size_t alignment, size_t size) noexcept {
    const int error = measured().posix_memalign(result, alignment, size);
    if (error == 0) handed_out(*result, size);
    return error;
}

void *valloc(size_t size) noexcept { return memalign(page(), size); }

void *pvalloc(size_t size) noexcept {
    return memalign(page(), size <= PTRDIFF_MAX ? (size + page() - 1) & -page() : size);
}
}
#pragma GCC visibility pop
