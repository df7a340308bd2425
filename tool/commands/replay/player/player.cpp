// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: plays a script on the malloc that it was started with: granary-player SCRIPT-FD PROGRESS-FD.
// Invariant: between kReady and kDone nothing is allocated but what the script says, and by libc for its threads. What
//    the player itself needs is mapped before.
// Must not know: which allocator that is.
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "commands/replay/player/script.hpp"

namespace gr::tool {

namespace {

constexpr int kCannotPlay = 125;

[[noreturn]] void give_up(const char *what) {
    std::perror(what);
    ::_exit(kCannotPlay);
}

void *map(std::size_t bytes, int protection, int flags, int file) {
    void *const at = ::mmap(nullptr, bytes, protection, flags, file, 0);
    if (at == MAP_FAILED) give_up("granary-player: mmap");
    return at;
}

void sleep_on(std::uint32_t *word, std::uint32_t value) {
    ::syscall(SYS_futex, word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}
void wake(std::uint32_t *word) { ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

template <class T>
T load(const T *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
template <class T>
void store(T *word, T value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// What one thread counts, and adds to the whole now and then.
struct Counts {
    std::int64_t live = 0;  // bytes, of blocks that it obtained less those that it freed
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
};

class Player {
  public:
    Player(int script, int progress) {
        struct stat status {};
        if (::fstat(script, &status) != 0) give_up("granary-player: the script");
        const auto bytes = static_cast<std::size_t>(status.st_size);
        const char *const at = static_cast<const char *>(map(bytes, PROT_READ, MAP_SHARED, script));
        head_ = reinterpret_cast<const ScriptHead *>(at);
        threads_ = reinterpret_cast<const ScriptThread *>(at + head_->threads_at);
        operations_ = reinterpret_cast<const Operation *>(at + head_->operations_at);
        expected_ = reinterpret_cast<const std::uint32_t *>(at + head_->expected_at);
        progress_ = static_cast<Progress *>(map(sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, progress));
        // Populated, so that what the allocator takes is all that grows.
        constexpr int kOwn = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
        slots_ = static_cast<Slot *>(map((head_->slots + 1) * sizeof(Slot), PROT_READ | PROT_WRITE, kOwn, -1));
        arrived_ = static_cast<std::uint32_t *>(
            map((head_->milestones + 1) * sizeof(std::uint32_t), PROT_READ | PROT_WRITE, kOwn, -1));
        ids_ =
            static_cast<pthread_t *>(map((head_->threads + 1) * sizeof(pthread_t), PROT_READ | PROT_WRITE, kOwn, -1));
    }

    void play() {
        if (::pthread_attr_init(&attributes_) != 0) give_up("granary-player: threads");
        ::pthread_attr_setstacksize(&attributes_, kStackBytes);
        reach(kReady);
        const timespec begin = now();
        rusage before{};
        ::getrusage(RUSAGE_SELF, &before);
        store(&progress_->state, std::uint32_t{kPlaying});
        play_thread(0);
        // A thread may be started late, by one that is not waited for yet.
        for (std::uint32_t i = 1; i < head_->threads; ++i) {
            while (load(&ids_[i]) == 0) ::sched_yield();
            ::pthread_join(ids_[i], nullptr);
        }
        tell(before, between(begin, now()) - paused_);
        reach(kDone);
    }

  private:
    struct Slot {
        void *block;  // nullptr, where a call got none
        std::uint64_t size;
        std::uint32_t turn;  // release, with the acquire of who comes next: the rest is written
    };
    static constexpr std::size_t kStackBytes = std::size_t{256} << 10;
    static constexpr std::uint64_t kTellEvery = 256;  // operations

    // Tells who started the player, and waits until he lets it go on.
    void reach(Stage stage) {
        store(&progress_->state, std::uint32_t{stage});
        wake(&progress_->state);
        while (load(&progress_->go) < stage) sleep_on(&progress_->go, progress_->go);
    }

    static timespec now() {
        timespec time{};
        ::clock_gettime(CLOCK_MONOTONIC, &time);
        return time;
    }
    static std::uint64_t between(const timespec &from, const timespec &to) {
        return static_cast<std::uint64_t>((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
    }
    static std::uint64_t between(const timeval &from, const timeval &to) {
        return static_cast<std::uint64_t>((to.tv_sec - from.tv_sec) * 1000000 + to.tv_usec - from.tv_usec);
    }
    void tell(const rusage &before, std::uint64_t nanoseconds) {
        rusage after{};
        ::getrusage(RUSAGE_SELF, &after);
        progress_->wall_nanoseconds = nanoseconds;
        progress_->user_microseconds = between(before.ru_utime, after.ru_utime);
        progress_->system_microseconds = between(before.ru_stime, after.ru_stime);
        progress_->faults = static_cast<std::uint64_t>(after.ru_minflt - before.ru_minflt);
    }

    static void *begin_thread(void *role) {
        const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(role));
        whole_->play_thread(number);
        return nullptr;
    }

    void play_thread(std::uint32_t number) {
        Counts counts;
        const Operation *operation = operations_ + threads_[number].first;
        for (const Operation *const end = operation + threads_[number].count; operation != end; ++operation) {
            play_one(*operation, counts);
            if (++counts.done == kTellEvery) hand_in(counts);
        }
        hand_in(counts);
    }

    void hand_in(Counts &counts) {
        __atomic_fetch_add(&progress_->done, counts.done, __ATOMIC_RELAXED);
        __atomic_fetch_add(&progress_->failed, counts.failed, __ATOMIC_RELAXED);
        __atomic_fetch_add(&live_, counts.live, __ATOMIC_RELAXED);
        counts = {};
    }

    void play_one(const Operation &operation, Counts &counts) {
        switch (Action{static_cast<std::uint8_t>(operation.action)}) {
            case Action::malloc:
                fill(operation, ::malloc(operation.size), counts);
                break;
            case Action::calloc:
                fill(operation, ::calloc(1, operation.size), counts);
                break;
            case Action::aligned:
                fill(operation, ::memalign(std::size_t{1} << operation.log2_alignment, operation.size), counts);
                break;
            case Action::realloc:
                resize(operation, counts);
                break;
            case Action::free:
                empty(operation, counts);
                break;
            case Action::start:
                start(operation.slot);
                break;
            case Action::milestone:
                pass(operation.slot, counts, true);
                break;
            case Action::leave:
                pass(operation.slot, counts, false);
                break;
        }
    }

    void touch(void *block, const Operation &operation) const {
        auto *const at = static_cast<volatile char *>(block);
        for (std::uint64_t page = 0; page < operation.pages; ++page) at[page * head_->page_bytes] = 1;
    }

    Slot &slot_of(const Operation &operation) {
        Slot &slot = slots_[operation.slot];
        while ((load(&slot.turn) & kMostTurn) != operation.turn) ::sched_yield();
        return slot;
    }
    // It is the next one's turn.
    static void leave(Slot &slot) { store(&slot.turn, slot.turn + 1); }

    void put(Slot &slot, void *block, const Operation &operation, Counts &counts) {
        touch(block, operation);
        counts.live += static_cast<std::int64_t>(operation.size) - static_cast<std::int64_t>(slot.size);
        slot.block = block;
        slot.size = operation.size;
    }

    void fill(const Operation &operation, void *block, Counts &counts) {
        Slot &slot = slot_of(operation);
        slot.block = nullptr;
        slot.size = 0;
        block == nullptr ? void(++counts.failed) : put(slot, block, operation, counts);
        leave(slot);
    }

    void resize(const Operation &operation, Counts &counts) {
        Slot &slot = slot_of(operation);
        void *const block = ::realloc(slot.block, operation.size);
        block == nullptr ? void(++counts.failed) : put(slot, block, operation, counts);
        leave(slot);
    }

    void empty(const Operation &operation, Counts &counts) {
        Slot &slot = slot_of(operation);
        counts.live -= static_cast<std::int64_t>(slot.size);
        ::free(slot.block);
        leave(slot);
    }

    void start(std::uint32_t number) {
        pthread_t id{};
        whole_ = this;
        if (::pthread_create(&id, &attributes_, begin_thread, reinterpret_cast<void *>(std::uintptr_t{number})) != 0)
            give_up("granary-player: pthread_create");
        store(&ids_[number], id);
    }

    void pass(std::uint32_t milestone, Counts &counts, bool waits) {
        hand_in(counts);
        std::uint32_t *const arrived = &arrived_[milestone];
        if (__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL) != expected_[milestone]) {
            for (std::uint32_t seen = load(arrived); waits && seen < kPassed; seen = load(arrived))
                sleep_on(arrived, seen);
            return;
        }
        if (milestone == head_->peak) {
            progress_->live_at_peak = static_cast<std::uint64_t>(load(&live_));
            const timespec begin = now();
            reach(kAtPeak);
            paused_ = between(begin, now());
            store(&progress_->state, std::uint32_t{kPlaying});
        }
        store(arrived, kPassed);
        wake(arrived);
    }

    static constexpr std::uint32_t kPassed = std::uint32_t{1} << 31;
    static Player *whole_;  // for those that start

    const ScriptHead *head_;
    const ScriptThread *threads_;
    const Operation *operations_;
    const std::uint32_t *expected_;
    Progress *progress_;
    Slot *slots_;
    std::uint32_t *arrived_;
    pthread_t *ids_;
    pthread_attr_t attributes_{};
    std::int64_t live_ = 0;
    std::uint64_t paused_ = 0;  // nanoseconds, at the peak
};

constinit Player *Player::whole_ = nullptr;

}  // namespace

}  // namespace gr::tool

int main(int count, char **words) {
    if (count != 3) {
        std::fputs("granary-player is started by 'granary replay'\n", stderr);
        return gr::tool::kCannotPlay;
    }
    gr::tool::Player player(std::atoi(words[1]), std::atoi(words[2]));
    player.play();
    ::_exit(0);
}
