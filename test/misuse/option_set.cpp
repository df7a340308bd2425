// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: gr_option_set in a running program, one part for each argument: what is refused and why, what each option
//    changes, and sets while threads allocate, in handlers and in fork's child.
// Invariant: exit code 0 means that every set did what granary.h says; nothing here depends on time but the end of a
//    thread, which is waited for.
// Must not know: how an option takes effect.
#include "black_box.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace gr::black_box;

namespace {

constexpr size_t kMiB = 1 << 20;

std::string get(const char *name) {
    char value[64] = "";
    GR_REQUIRE(gr_option_get(name, value, sizeof value) >= 0);
    return value;
}

void set(const char *name, const std::string &value) {
    if (gr_option_set(name, value.c_str()) != 0) leave(1, "%s=%s: errno %d\n", name, value.c_str(), errno);
}

void require_refused(const char *name, const char *value, int error) {
    errno = 0;
    const int result = gr_option_set(name, value);
    if (result == -1 && errno == error) return;
    leave(1, "%s=%s: %d with errno %d, expected errno %d\n", name == nullptr ? "NULL" : name,
          value == nullptr ? "NULL" : value, result, errno, error);
}

uint64_t held() {
    const gr_statistics now = statistics();
    return now.heap_bytes + now.retained_bytes + now.direct_bytes + now.metadata_bytes;
}

std::vector<void *> take(size_t count, size_t size) {
    std::vector<void *> blocks(count);
    for (void *&block : blocks) {
        block = std::malloc(size);
        GR_REQUIRE(block != nullptr);
        std::memset(block, 1, size);
    }
    return blocks;
}

void release(const std::vector<void *> &blocks) {
    for (void *const block : blocks) std::free(block);
}

void refused() {
    constexpr const char *kAll[] = {"STATS", "VERBOSE", "RETAIN", "REUSE", "DIRECT", "MAGAZINE", "LIMIT", "BACKGROUND"};
    std::string before;
    for (const char *name : kAll) before += get(name) + " ";
    for (const char *name : {"", "NO_SUCH", "RETAI", "RETAINS", "GRANARY_RETAIN"}) require_refused(name, "1", ENOENT);
    require_refused(nullptr, "1", ENOENT);
    for (const char *name :
         {"OPTIONS_FILE", "STATS_FILE", "STATS_INTERVAL", "RSEQ", "REGION", "HUGE_PAGES", "DEEPBIND", "JUNK", "ZERO",
          "PROFILE", "PROFILE_FOLDER", "COLLECTIONS", "GC_POLICY", "GC_TRACER", "FREE", "QUARANTINE", "LEAKS"}) {
        require_refused(name, get(name).c_str(), EPERM);
        require_refused(name, "nonsense", EPERM);
    }
    for (const char *name : kAll) {
        require_refused(name, "nonsense", EINVAL);
        require_refused(name, "", EINVAL);
        require_refused(name, nullptr, EINVAL);
    }
    require_refused("RETAIN", "8M ", EINVAL);
    require_refused("LIMIT", "2G,1G", EINVAL);
    require_refused("LIMIT", "0,1", EINVAL);
    std::string after;
    for (const char *name : kAll) after += get(name) + " ";
    GR_REQUIRE(before == after);
}

void shown() {
    set("retain", "3M");
    GR_REQUIRE(get("RETAIN") == std::to_string(3 * kMiB));
    set("BREATH", "5M");
    GR_REQUIRE(get("REUSE") == std::to_string(5 * kMiB));
    set("LIMIT", "1G,2G");
    GR_REQUIRE(get("LIMIT") == "1073741824,2147483648");
    set("VERBOSE", "1");
    GR_REQUIRE(get("VERBOSE") == "1");
    int ends[2];
    GR_REQUIRE(pipe(ends) == 0);
    GR_REQUIRE(fcntl(ends[1], F_SETPIPE_SZ, 65536) > 0);
    GR_REQUIRE(gr_options_print(ends[1], GR_JSON) == 0);
    static char text[65536];
    const ssize_t size = read(ends[0], text, sizeof text);
    GR_REQUIRE(size > 0);
    const std::string_view json(text, static_cast<size_t>(size));
    GR_REQUIRE(json.find(R"("GRANARY_RETAIN", "value": "3145728", "origin": "run-time", "changeable": true)") !=
               std::string_view::npos);
    GR_REQUIRE(json.find(R"("GRANARY_RSEQ", "value": ")") != std::string_view::npos);
    GR_REQUIRE(json.find(R"("GRANARY_STATS", "value": "off", "origin": "default", "changeable": true)") !=
               std::string_view::npos);
}

// So many of them are granted. The list is in no block, for that might be refused.
size_t granted(size_t most, size_t size) {
    static std::array<void *, 64> blocks;
    GR_REQUIRE(most <= blocks.size());
    size_t count = 0;
    while (count < most && (blocks[count] = std::malloc(size)) != nullptr) ++count;
    if (count < most) GR_REQUIRE(errno == ENOMEM);
    for (size_t i = 0; i < count; ++i) std::free(blocks[i]);
    return count;
}

std::atomic<unsigned> told = 0;

void limit() {
    constexpr size_t kSize = kMiB;
    const std::vector<void *> kept = take(64, kSize);
    GR_REQUIRE(granted(32, kSize) == 32);
    gr_trim(0);
    set("LIMIT", "0," + std::to_string(held() + 8 * kSize));
    const size_t some = granted(32, kSize);
    if (some > 8) leave(1, "%zu blocks are granted, the limit has room for 8\n", some);
    GR_REQUIRE(std::malloc(64 * kMiB) == nullptr);
    // Below what the program holds: that stays, and nothing new is granted.
    set("LIMIT", "0," + std::to_string(held() / 2));
    GR_REQUIRE(granted(1, kSize) == 0);
    for (void *const block : kept) GR_REQUIRE(*static_cast<char *>(block) == 1);
    set("LIMIT", "0");
    GR_REQUIRE(granted(32, kSize) == 32);
    // The soft limit.
    gr_on_pressure([](void *context, size_t) { static_cast<std::atomic<unsigned> *>(context)->fetch_add(1); }, &told);
    set("RETAIN", "1G");
    release(take(32, kSize));
    GR_REQUIRE(statistics().retained_bytes >= 16 * kSize);
    set("LIMIT", std::to_string(held() / 2));
    GR_REQUIRE(statistics().retained_bytes == 0);
    std::free(std::malloc(kSize));
    GR_REQUIRE(told == 1);
    std::free(std::malloc(kSize));
    GR_REQUIRE(told == 1);
    set("LIMIT", std::to_string(held() * 2));
    release(take(32, kSize));
    GR_REQUIRE(statistics().retained_bytes >= 16 * kSize);
    GR_REQUIRE(told == 1);
    release(kept);
}

void retention() {
    const std::vector<void *> kept = take(1, kMiB);
    set("REUSE", "0");
    set("RETAIN", "64M");
    release(take(48, kMiB));
    GR_REQUIRE(statistics().retained_bytes >= 40 * kMiB);
    set("RETAIN", "0");
    GR_REQUIRE(statistics().retained_bytes <= kMiB);
    release(take(48, kMiB));
    GR_REQUIRE(statistics().retained_bytes <= 4 * kMiB);
    GR_REQUIRE(statistics().reuse_bytes == 0);
    release(kept);
}

// Pages between blocks in use.
void pages() {
    set("REUSE", "0");
    set("RETAIN", "1G");
    std::vector<void *> blocks = take(20000, 1024);
    for (size_t i = 0; i < blocks.size(); ++i) {
        if (i % 64 != 0) std::free(std::exchange(blocks[i], nullptr));
    }
    const uint64_t before = statistics().purged_bytes;
    set("RETAIN", "0");
    GR_REQUIRE(statistics().purged_bytes >= before + 4 * kMiB);
    release(blocks);
}

void direct() {
    const auto is_direct = [](size_t size) {
        const uint64_t before = statistics().direct_count;
        void *const block = std::malloc(size);
        GR_REQUIRE(block != nullptr);
        const bool result = statistics().direct_count != before;
        std::free(block);
        return result;
    };
    GR_REQUIRE(!is_direct(2 * kMiB));
    void *const run = std::malloc(2 * kMiB);
    set("DIRECT", "1M");
    GR_REQUIRE(is_direct(2 * kMiB));
    void *const mapped = std::malloc(2 * kMiB);
    set("DIRECT", "32M");
    GR_REQUIRE(!is_direct(2 * kMiB));
    std::free(run);
    std::free(mapped);
}

void magazines() {
    const auto cached = [] {
        release(take(20000, 64));
        return statistics().magazine_bytes;
    };
    set("MAGAZINE", "0");
    gr_trim(0);
    const uint64_t little = cached();
    set("MAGAZINE", "1M");
    const uint64_t much = cached();
    if (much <= little) leave(1, "%zu bytes are cached, before only %zu\n", size_t{much}, size_t{little});
}

void heaps() {
    const auto fill_and_free = [](gr_heap *heap) {
        std::vector<void *> blocks(48);
        for (void *&block : blocks) {
            block = gr_heap_malloc(heap, kMiB);
            GR_REQUIRE(block != nullptr);
        }
        for (void *const block : blocks) gr_heap_free(heap, block);
        return statistics(heap).retained_bytes;
    };
    set("REUSE", "0");
    gr_heap *const before = gr_heap_new(256 * kMiB);
    GR_REQUIRE(before != nullptr);
    set("RETAIN", "64M");
    gr_heap *const after = gr_heap_new(256 * kMiB);
    GR_REQUIRE(after != nullptr);
    GR_REQUIRE(fill_and_free(before) >= 40 * kMiB);
    GR_REQUIRE(fill_and_free(after) >= 40 * kMiB);
    set("RETAIN", "0");
    GR_REQUIRE(statistics(before).retained_bytes <= kMiB);
    GR_REQUIRE(statistics(after).retained_bytes <= kMiB);
    gr_heap_destroy(before);
    gr_heap_destroy(after);
}

// Threads of the process that the library started.
unsigned own_threads() {
    DIR *const tasks = opendir("/proc/self/task");
    GR_REQUIRE(tasks != nullptr);
    unsigned count = 0;
    while (const dirent *entry = readdir(tasks)) {
        char name[32] = "";
        const int file = open(("/proc/self/task/" + std::string(entry->d_name) + "/comm").c_str(), O_RDONLY);
        if (file < 0) continue;
        if (read(file, name, sizeof name - 1) > 0) count += std::string_view(name) == "granary\n" ? 1 : 0;
        close(file);
    }
    closedir(tasks);
    return count;
}

// Does what makes the thread start, until it has.
void wait_for_own_thread() {
    while (own_threads() == 0) release(take(16, 200000));
}

void wait_for_its_end() {
    while (own_threads() != 0) sched_yield();
}

void background() {
    GR_REQUIRE(own_threads() == 0);
    std::thread([] { require_refused("BACKGROUND", "on", EPERM); }).join();
    GR_REQUIRE(get("BACKGROUND") == "off");
    for (unsigned round = 0; round < 3; ++round) {
        set("BACKGROUND", "on");
        GR_REQUIRE(get("BACKGROUND") == "on");
        wait_for_own_thread();
        set("BACKGROUND", "on");
        std::thread([] { set("BACKGROUND", "off"); }).join();
        wait_for_its_end();
        release(take(1000, 200000));
        GR_REQUIRE(own_threads() == 0);
        std::thread([] { set("BACKGROUND", "on"); }).join();
        wait_for_own_thread();
        // Before it has seen that it is to end.
        for (unsigned i = 0; i < 200; ++i) {
            set("BACKGROUND", "off");
            set("BACKGROUND", "on");
            release(take(16, 200000));
            if (own_threads() > 1) leave(1, "the library has %u threads\n", own_threads());
        }
        set("BACKGROUND", "off");
        wait_for_its_end();
    }
}

std::atomic<unsigned> calls = 0;

void count_call(void *, const gr_statistics *) { ++calls; }

void wait_for_calls() {
    const unsigned before = calls;
    while (calls < before + 3) sched_yield();
}

// GRANARY_BACKGROUND and gr_statistics_every share one thread. The thread is there as long as one of them wants it, and
// works for both.
void thread_of_statistics() {
    constexpr unsigned kAnHour = 3'600'000;
    GR_REQUIRE(gr_statistics_every(1, count_call, nullptr) == 0);
    wait_for_calls();
    // Others may switch it on, since the first thread has asked for it.
    std::thread([] { set("BACKGROUND", "on"); }).join();
    wait_for_calls();
    set("BACKGROUND", "off");
    wait_for_calls();
    GR_REQUIRE(own_threads() == 1);
    GR_REQUIRE(gr_statistics_every(0, nullptr, nullptr) == 0);
    wait_for_its_end();
    // It gives back what is idle as soon as it is switched on, though it sleeps for an hour.
    GR_REQUIRE(gr_statistics_every(kAnHour, count_call, nullptr) == 0);
    release(take(20000, 64));
    GR_REQUIRE(statistics().magazine_bytes != 0);
    set("BACKGROUND", "on");
    while (statistics().magazine_bytes != 0) sched_yield();
    // And stays without the function.
    GR_REQUIRE(gr_statistics_every(0, nullptr, nullptr) == 0);
    release(take(20000, 64));
    while (statistics().magazine_bytes != 0) sched_yield();
    GR_REQUIRE(own_threads() == 1);
    GR_REQUIRE(gr_statistics_every(1, count_call, nullptr) == 0);
    wait_for_calls();
    GR_REQUIRE(gr_statistics_every(0, nullptr, nullptr) == 0);
    set("BACKGROUND", "off");
    wait_for_its_end();
}

bool first_thread_has_ended() {
    char text[256] = "";
    const int file = open(("/proc/self/task/" + std::to_string(getpid()) + "/stat").c_str(), O_RDONLY);
    GR_REQUIRE(file >= 0 && read(file, text, sizeof text - 1) > 0);
    close(file);
    const char *const state = std::strrchr(text, ')');
    return state != nullptr && state[2] == 'Z';
}

// The process ends with its last thread, which must not be the library's.
void first_thread_ends() {
    set("BACKGROUND", "on");
    wait_for_own_thread();
    pthread_t thread{};
    const auto work = [](void *) -> void * {
        while (!first_thread_has_ended()) sched_yield();
        wait_for_its_end();
        set("BACKGROUND", "off");
        require_refused("BACKGROUND", "on", EPERM);
        release(take(1000, 200000));
        if (own_threads() != 0) leave(1, "the library's thread outlives the first\n");
        return nullptr;
    };
    GR_REQUIRE(pthread_create(&thread, nullptr, work, nullptr) == 0);
    pthread_exit(nullptr);
}

// What the child says on its standard error before it ends.
template <class Child>
std::string said_by(Child child) {
    int ends[2];
    GR_REQUIRE(pipe(ends) == 0);
    const pid_t pid = fork();
    GR_REQUIRE(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        child();
        std::exit(0);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 4096> some{};
    for (ssize_t size = 0; (size = read(ends[0], some.data(), some.size())) > 0;)
        text.append(some.data(), static_cast<size_t>(size));
    close(ends[0]);
    int status = 0;
    GR_REQUIRE(waitpid(pid, &status, 0) == pid);
    if (status != 0) leave(1, "the child ended with status %d: %s\n", status, text.c_str());
    return text;
}

void statistics_at_end() {
    const std::string text = said_by([] {
        set("STATS", "text");
        close(STDERR_FILENO);
    });
    GR_REQUIRE(text.find("granary: statistics of process ") == 0);
    GR_REQUIRE(said_by([] {
                   set("STATS", "json");
                   set("STATS", "off");
               }).empty());
    GR_REQUIRE(said_by([] {
                   close(STDERR_FILENO);
                   if (gr_option_set("STATS", "text") != -1 || errno != EBADF) std::exit(1);
               }).empty());
}

std::atomic<bool> over = false;

// Allocates and frees blocks of every kind and looks at what is in them.
void allocate(uint64_t seed) {
    Sequence sequence(seed);
    struct Block {
        unsigned char *begin = nullptr;
        size_t size = 0;
    };
    std::array<Block, 256> blocks;
    while (!over) {
        Block &block = blocks[sequence.next() % blocks.size()];
        if (block.begin != nullptr) {
            const auto mark = static_cast<unsigned char>(block.size);
            GR_REQUIRE(block.begin[0] == mark && block.begin[block.size - 1] == mark);
            std::free(block.begin);
        }
        const uint64_t kind = sequence.next() % 64;
        const size_t most = kind == 0 ? 3 * kMiB : kind < 8 ? 100000 : 1000;
        block.size = 1 + sequence.next() % most;
        block.begin = static_cast<unsigned char *>(std::malloc(block.size));
        GR_REQUIRE(block.begin != nullptr);
        block.begin[0] = block.begin[block.size - 1] = static_cast<unsigned char>(block.size);
    }
    for (const Block &block : blocks) std::free(block.begin);
}

constexpr std::pair<const char *, const char *> kSettings[] = {
    {"RETAIN", "0"},       {"LIMIT", "1M,8G"},   {"MAGAZINE", "1M"}, {"DIRECT", "256K"},  {"REUSE", "0"},
    {"RETAIN", "64M"},     {"BACKGROUND", "on"}, {"LIMIT", "0"},     {"MAGAZINE", "16K"}, {"DIRECT", "32M"},
    {"BACKGROUND", "off"}, {"LIMIT", "4G,auto"}, {"REUSE", "1T"},    {"VERBOSE", "0"},
};

void set_all() {
    for (const auto &[name, value] : kSettings) set(name, value);
}

template <class Act>
void while_threads_allocate(Act act) {
    over = false;
    std::vector<std::thread> threads;
    for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(allocate, seed);
    act();
    over = true;
    for (std::thread &thread : threads) thread.join();
    require_sound_heap();
}

void threads() {
    set("BACKGROUND", "off");
    set("BACKGROUND", "on");  // so that other threads may
    while_threads_allocate([] {
        std::thread other([] {
            for (unsigned round = 0; round < 100; ++round) set_all();
        });
        for (unsigned round = 0; round < 100; ++round) {
            set_all();
            get("LIMIT");
            gr_heap *const heap = gr_heap_new(16 * kMiB);
            GR_REQUIRE(heap != nullptr);
            gr_heap_destroy(heap);
        }
        other.join();
    });
}

void forks() {
    while_threads_allocate([] {
        std::atomic<bool> done = false;
        set("BACKGROUND", "on");
        std::thread other([&done] {
            while (!done) set_all();
        });
        for (unsigned round = 0; round < 20; ++round) {
            const pid_t pid = fork();
            GR_REQUIRE(pid >= 0);
            if (pid == 0) {
                set_all();
                set("RETAIN", "7M");
                GR_REQUIRE(get("RETAIN") == std::to_string(7 * kMiB));
                set("BACKGROUND", "on");
                wait_for_own_thread();
                set("BACKGROUND", "off");
                wait_for_its_end();
                require_sound_heap();
                _exit(0);
            }
            int status = 0;
            GR_REQUIRE(waitpid(pid, &status, 0) == pid);
            if (status != 0) leave(1, "a child ended with status %d\n", status);
        }
        done = true;
        other.join();
    });
}

std::atomic<unsigned> handled = 0;

void handlers() {
    struct sigaction action {};
    action.sa_handler = [](int) {
        const int before = errno;
        for (const auto &[name, value] :
             {std::pair{"RETAIN", "0"}, std::pair{"LIMIT", "0"}, std::pair{"RETAIN", "64M"}}) {
            if (gr_option_set(name, value) != 0 && errno != EBUSY) leave(1, "%s=%s: errno %d\n", name, value, errno);
        }
        errno = before;
        handled.fetch_add(1);
    };
    GR_REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
    over = false;
    std::thread thread(allocate, 1);
    for (unsigned round = 0; round < 2000; ++round) {
        const unsigned before = handled;
        GR_REQUIRE(pthread_kill(thread.native_handle(), SIGUSR1) == 0);
        while (handled == before) sched_yield();
    }
    over = true;
    thread.join();
    require_sound_heap();
}

constexpr std::pair<std::string_view, void (*)()> kParts[] = {
    {"refused", refused},
    {"shown", shown},
    {"limit", limit},
    {"retention", retention},
    {"pages", pages},
    {"direct", direct},
    {"magazines", magazines},
    {"heaps", heaps},
    {"background", background},
    {"first_thread_ends", first_thread_ends},
    {"threads", threads},
    {"statistics_at_end", statistics_at_end},
    {"forks", forks},
    {"handlers", handlers},
    {"thread_of_statistics", thread_of_statistics},
};

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    for (const auto &[name, run] : kParts) {
        if (argc != 2 || name != argv[1]) continue;
        run();
        require_sound_heap();
        return 0;
    }
    leave(1, "usage: option_set PART\n");
}
