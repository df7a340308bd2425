// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts what a program requests of the malloc that comes next in the loader's order, and writes it as JSON
//    to the file that REQUESTED_FILE names (%p in the name: the process's id) when the program ends. Question:
//    how many bytes did the program want at once (Hoard's U), of which sizes, how many was there room for in
//    its blocks, how many did the allocator hold (A)? A program that is killed, or ends by _exit, reports nothing.
//    C++ programs need libstdc++ preloaded between the two, whose operators call malloc; else an allocator's
//    own operators would not be seen.
// Invariant: requests pass unchanged and nothing is added to a block: sizes lie in a table of our own. Every live block
//    has one entry, set after the allocator hands it out and cleared before it gets it back, so that an entry
//    has one owner at any time and needs no lock. The child of a fork has requested nothing yet; what its
//    parent left it is live.
// Must not know: any workload; which allocator is measured.
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "held.hpp"
#include "sizes.hpp"

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
    void begin_anew() { peak_.store(now(), std::memory_order_relaxed); }
    std::size_t now() const { return now_.load(std::memory_order_relaxed); }
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
constinit Sizes sizes;
constinit std::atomic<bool> asking{false};
constinit thread_local bool uncounted = false;  // what is requested on our own behalf
constinit char pattern[4096] = {};              // REQUESTED_FILE as it was at the start: a program may write over it

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
    if (asked.bytes == nullptr || (live < due.load(std::memory_order_relaxed) && request % kRequests != 0)) return;
    if (asking.exchange(true, std::memory_order_acquire)) return;
    if (live >= due.load(std::memory_order_relaxed)) due.store(live + live / 16, std::memory_order_relaxed);
    held.raise(asked.bytes());
    asking.store(false, std::memory_order_release);
}

// Now live in all.
std::size_t enter(void *block, Entry entry) {
    entry_of(block) = entry;
    usable.add(room_of(block, entry));
    const std::size_t size = size_of(block, entry);
    const std::size_t live = requested.add(size);
    sizes.add(size, live);
    return live;
}

void *handed_out(void *block, std::size_t size) {
    if (block == nullptr || uncounted) return block;
    uncounted = true;  // to answer us, the allocator may allocate
    const std::size_t live = enter(block, size < kHuge - 1 ? static_cast<Entry>(size + 1) : kHuge);
    total_bytes.fetch_add(size, std::memory_order_relaxed);
    sizes.request(size);
    sample(live, requests.fetch_add(1, std::memory_order_relaxed));
    uncounted = false;
    return block;
}

// What the entry was, for a block that is handed back.
Entry forget(void *block) {
    const Entry entry = block == nullptr ? 0 : std::exchange(entry_of(block), 0);
    if (entry != 0) {
        requested.subtract(size_of(block, entry));
        sizes.subtract(size_of(block, entry));
        usable.subtract(room_of(block, entry));
    }
    return entry;
}

std::size_t page() { return static_cast<std::size_t>(getpagesize()); }

// In the child, whose parent reports for itself.
void begin_anew() {
    requests.store(0, std::memory_order_relaxed);
    total_bytes.store(0, std::memory_order_relaxed);
    requested.begin_anew();
    usable.begin_anew();
    held.begin_anew();
    sizes.begin_anew(requested.now());
    asking.store(false, std::memory_order_relaxed);
}

[[gnu::constructor]] void prepare() {
    if (const char *const path = getenv("REQUESTED_FILE")) {
        if (strlen(path) >= sizeof pattern) fail("requested: REQUESTED_FILE is too long a name\n");
        strcpy(pattern, path);
    }
    if (pthread_atfork(nullptr, nullptr, begin_anew) != 0) fail("requested: no memory for a handler of forks\n");
}

int open_report() {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const char *const mark = strstr(pattern, "%p");
    if (mark == nullptr) return open(pattern, kFlags, 0666);
    char path[sizeof pattern + 16];
    snprintf(path, sizeof path, "%.*s%d%s", static_cast<int>(mark - pattern), pattern, getpid(), mark + 2);
    return open(path, kFlags, 0666);
}

// The name of the program's file, as a JSON string can hold it.
struct ProgramName {
    char text[256] = {};

    ProgramName() {
        char path[4096] = {};
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        const char *const slash = length > 0 ? strrchr(path, '/') : nullptr;
        if (slash == nullptr) return;
        snprintf(text, sizeof text, "%.*s", static_cast<int>(sizeof text) - 1, slash + 1);
        for (char &c : text) {
            if (c == '"' || c == '\\' || (c > 0 && c < ' ')) c = '_';
        }
    }
};

[[gnu::destructor]] void report() {
    if (pattern[0] == '\0') return;
    uncounted = true;  // dprintf allocates
    const int file = open_report();
    if (file < 0) fail("requested: REQUESTED_FILE cannot be written\n");
    if (asked.bytes != nullptr) held.raise(asked.bytes());
    dprintf(file, "{\"program\": \"%s\", \"requests\": %llu, \"total_bytes\": %llu, ", ProgramName().text,
            static_cast<unsigned long long>(requests.load()), static_cast<unsigned long long>(total_bytes.load()));
    dprintf(file, "\"requested_peak\": %zu, \"usable_peak\": %zu, \"held_peak\": %zu, \"asked\": \"%s\",\n",
            requested.peak(), usable.peak(), held.peak(), asked.what != nullptr ? asked.what : "");
    dprintf(file, " \"sizes\": [");  // each: the largest of the step, requests, live at the peak
    const char *separator = "";
    sizes.for_each([&](std::size_t size, std::uint64_t count, std::uint32_t live) {
        dprintf(file, "%s[%zu, %llu, %u]", separator, size, static_cast<unsigned long long>(count), live);
        separator = ", ";
    });
    dprintf(file, "]}\n");
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
