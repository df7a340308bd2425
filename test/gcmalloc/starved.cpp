// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far the heap grows while another thread has the loader's list of libraries, and while each collection takes
//    until nobody else can go on before it has ended: the pipe that it writes its line into is full. Nothing lives, and
//    what is freed may wait.
// Invariant: the heap stays below a limit, however many collections there are; the thread that has the list gets memory all
//    the same.
// Must not know: when it is collected; how threads wait.
#include "black_box.hpp"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

using namespace gr::black_box;

namespace {

constexpr unsigned kThreads = 16;
constexpr unsigned kHolds = 2;
constexpr unsigned kCollections = 20;
constexpr std::uint64_t kAllocations = 4'000'000;  // where they are free at once, nothing is collected
constexpr unsigned kBlocks = 300;
constexpr std::uint64_t kMost = std::uint64_t{64} << 20;  // four times what it is on a machine that does nothing else
// A thread that cannot go on still gets a block now and then, because the collecting thread may wait for it.
constexpr std::uint64_t kFewAllocations = 4 * kThreads;

constexpr unsigned kQuietMoments = 3;

struct alignas(64) Allocating {
    pthread_t thread;
    std::atomic<std::uint64_t> blocks{0};
};

pthread_barrier_t all_are_there;
std::atomic<bool> is_over{false};
Allocating all[kThreads];

void *allocate(void *self) {
    std::atomic<std::uint64_t> &blocks = static_cast<Allocating *>(self)->blocks;
    pthread_barrier_wait(&all_are_there);
    for (std::uint64_t i = 0; !is_over; ++i) {
        std::free(opaque(std::malloc(i % 64 == 0 ? 3000 : 48)));
        blocks.store(i, std::memory_order_relaxed);
    }
    return nullptr;
}

std::uint64_t allocated() {
    std::uint64_t sum = 0;
    for (const Allocating &one : all) sum += one.blocks.load(std::memory_order_relaxed);
    return sum;
}

// The log of collections.
class Log {
  public:
    // Starts the program again with a pipe for a log.
    [[noreturn]] static void start(char **arguments) {
        int ends[2];
        if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, getpagesize()) < 0) leave(2, "no pipe\n");
        char path[64];
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
        setenv(kVariable, path, 1);
        execv("/proc/self/exe", arguments);
        leave(2, "the program cannot start itself\n");
    }
    static bool is_started() { return std::getenv(kVariable) != nullptr; }

    Log() {
        const char *const path = std::getenv(kVariable);
        from_ = open(path, O_RDONLY | O_NONBLOCK);
        to_ = open(path, O_WRONLY | O_NONBLOCK);
        if (from_ < 0 || to_ < 0) leave(2, "the log cannot be opened\n");
    }

    // A collection does not end any more until its line can be written.
    void fill() {
        static char page[1 << 16];
        const auto bytes = static_cast<std::size_t>(fcntl(to_, F_GETPIPE_SZ));
        while (write(to_, page, std::min(bytes, sizeof page)) < 0) {
            if (errno != EAGAIN) leave(2, "the log cannot be filled\n");
            empty();
        }
    }
    void empty() {
        char text[1024];
        for (ssize_t bytes = 0; (bytes = read(from_, text, sizeof text)) > 0;)
            lines_ += static_cast<unsigned>(std::count(text, text + bytes, '\n'));
    }
    unsigned lines() const { return lines_; }

  private:
    static constexpr const char *kVariable = "GRANARY_COLLECTIONS";

    int from_ = -1;
    int to_ = -1;
    unsigned lines_ = 0;
};

void wait_a_moment() {
    timespec moment{0, 10'000'000};
    while (nanosleep(&moment, &moment) != 0) {
    }
}

// If the other threads get no CPU for so many moments, the test finds less.
void wait_until_nobody_goes_on(std::uint64_t most) {
    std::uint64_t before = allocated();
    for (unsigned quiet = 0; quiet < kQuietMoments && before < most;) {
        wait_a_moment();
        const std::uint64_t now = allocated();
        quiet = now > before + kFewAllocations ? 0 : quiet + 1;
        before = now;
    }
}

int hold(dl_phdr_info *, std::size_t, void *context) {
    Log &log = *static_cast<Log *>(context);
    log.empty();
    for (unsigned i = 0; i < kBlocks; ++i) {
        if (opaque(std::malloc(1000)) == nullptr) leave(1, "no memory for the thread that has the list\n");
    }
    const unsigned lines = log.lines() + kCollections;
    const std::uint64_t most = allocated() + kAllocations;
    while (log.lines() < lines && allocated() < most) {
        log.fill();
        wait_until_nobody_goes_on(most);
        const std::uint64_t heap = statistics().heap_bytes;
        if (heap > kMost) leave(1, "a heap of %lu bytes after %u collections\n", heap, log.lines());
        log.empty();
    }
    return 1;
}

}  // namespace

int main(int, char **arguments) {
    require_granary();
    if (!Log::is_started()) Log::start(arguments);
    Log log;
    pthread_barrier_init(&all_are_there, nullptr, kThreads + 1);
    for (Allocating &one : all) pthread_create(&one.thread, nullptr, allocate, &one);
    pthread_barrier_wait(&all_are_there);
    for (unsigned i = 0; i < kHolds; ++i) {
        dl_iterate_phdr(hold, &log);
        wait_a_moment();
    }
    is_over = true;
    log.empty();
    for (const Allocating &one : all) pthread_join(one.thread, nullptr);
    require_sound_heap();
    return 0;
}
