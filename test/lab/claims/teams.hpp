// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads that take turns, for claims about where blocks of different threads lie.
// Invariant: one works at a time, and each is one thread from its first step to its end, so what is asked has one answer.
// Must not know: what they do.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
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
        std::unique_lock lock(mutex_);
        step_ = std::move(step);
        is_asked_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !is_asked_; });
    }

  private:
    void serve(const std::function<void()> &at_end) {
        std::unique_lock lock(mutex_);
        for (bool goes_on = true; goes_on;) {
            changed_.wait(lock, [this] { return is_asked_; });
            goes_on = step_ != nullptr;
            goes_on ? step_() : at_end();
            is_asked_ = false;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> step_;
    bool is_asked_ = false;
    std::thread thread_;  // last: it reads the others
};

template <class A>
class Team {
  public:
    explicit Team(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            members_.push_back(std::make_unique<Member>([] { the_allocator<A>.thread_ends(); }));
    }
    std::vector<void *> allocate(std::size_t member, std::size_t count, std::size_t size) {
        std::vector<void *> blocks;
        members_[member]->run([&] {
            for (std::size_t i = 0; i < count; ++i) blocks.push_back(the_allocator<A>.allocate(size));
        });
        return blocks;
    }
    void free(std::size_t member, const std::vector<void *> &blocks) {
        members_[member]->run([&] {
            for (void *const block : blocks) the_allocator<A>.free(block);
        });
    }

  private:
    std::vector<std::unique_ptr<Member>> members_;
};

inline std::set<std::uintptr_t> parts_of(const std::vector<void *> &blocks, std::size_t part_bytes) {
    std::set<std::uintptr_t> parts;
    for (void *const block : blocks) parts.insert(reinterpret_cast<std::uintptr_t>(block) / part_bytes);
    return parts;
}

// Cache lines in which both have a block.
inline std::size_t shared_lines(const std::vector<void *> &one, const std::vector<void *> &other) {
    const std::set<std::uintptr_t> lines = parts_of(one, kCacheLineBytes);
    std::size_t shared = 0;
    for (const std::uintptr_t line : parts_of(other, kCacheLineBytes)) shared += lines.count(line);
    return shared;
}

}  // namespace gr::lab
