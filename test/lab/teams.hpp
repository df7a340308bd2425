// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads that take turns, for tests of where blocks of different threads lie and of which thread waits for
//    which.
// Invariant: one works at a time, unless it is asked and not waited for; each is one thread from its first step to its
//    end. So what is asked has one answer.
// Must not know: what they do.
#pragma once

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lab/parts/compositions.hpp"

namespace gr::lab {

class Member {
  public:
    explicit Member(std::function<void()> at_end) : thread_([this, at_end = std::move(at_end)] { serve(at_end); }) {}
    ~Member() {
        run({});
        thread_.join();
    }
    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;

    // Does the step there, and comes back when it is done.
    void run(std::function<void()> step) {
        ask(std::move(step));
        wait();
    }
    // Comes back at once.
    void ask(std::function<void()> step) {
        const std::lock_guard lock(mutex_);
        step_ = std::move(step);
        is_asked_.store(true);
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_done(); });
    }
    bool is_done() const { return !is_asked_.load(); }
    // Sleeps in its step, for a lock. A thread that is done may seem to sleep, so is_done is asked afterwards.
    bool is_waiting() const {
        const pid_t thread = in_step_.load();
        if (thread == 0) return false;
        std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
        std::string text;
        std::getline(stat, text);
        const std::size_t state = text.rfind(") ");
        return state != std::string::npos && text[state + 2] == 'S';
    }

  private:
    void serve(const std::function<void()> &at_end) {
        std::unique_lock lock(mutex_);
        for (bool goes_on = true; goes_on;) {
            changed_.wait(lock, [this] { return is_asked_.load(); });
            goes_on = step_ != nullptr;
            in_step_.store(gettid());
            goes_on ? step_() : at_end();
            in_step_.store(0);
            is_asked_.store(false);
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> step_;
    std::atomic<bool> is_asked_{false};
    std::atomic<pid_t> in_step_{0};
    std::thread thread_;  // last: it reads the others
};

template <class A>
class Team {
  public:
    explicit Team(std::size_t size, A &allocator = the_allocator<A>) : allocator_(allocator) {
        for (std::size_t i = 0; i < size; ++i)
            members_.push_back(std::make_unique<Member>([&allocator] { allocator.thread_ends(); }));
    }
    std::size_t size() const { return members_.size(); }
    Member &operator[](std::size_t member) { return *members_[member]; }

    std::vector<void *> allocate(std::size_t member, std::size_t count, std::size_t size) {
        std::vector<void *> blocks;
        members_[member]->run([&] {
            for (std::size_t i = 0; i < count; ++i) blocks.push_back(allocator_.allocate(size));
        });
        return blocks;
    }
    void free(std::size_t member, const std::vector<void *> &blocks) {
        members_[member]->run([&] {
            for (void *const block : blocks) allocator_.free(block);
        });
    }
    // Where a thread takes a heap that no thread is in: each comes to a heap of its own, because it finds all others
    // taken.
    void part() {
        for (const std::unique_ptr<Member> &member : members_) {
            allocator_.lock();
            member->ask([this] { allocator_.free(allocator_.allocate(1)); });
            while (!member->is_done() && !member->is_waiting()) std::this_thread::yield();
            EXPECT_FALSE(member->is_done());
            allocator_.unlock();
            member->wait();
        }
    }

  private:
    A &allocator_;
    std::vector<std::unique_ptr<Member>> members_;
};

inline std::set<std::uintptr_t> parts_of(const std::vector<void *> &blocks, std::size_t part_bytes) {
    std::set<std::uintptr_t> parts;
    for (void *const block : blocks) parts.insert(reinterpret_cast<std::uintptr_t>(block) / part_bytes);
    return parts;
}

}  // namespace gr::lab
