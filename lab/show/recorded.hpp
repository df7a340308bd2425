// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator whose calls are recorded, in a shown build; and which allocators can be shown.
// Invariant: does what the allocator does. In a plain build there is none of it.
// Must not know: any allocator, and what is written.
#pragma once

#include <type_traits>

#include "parts/contract/allocator.hpp"
#include "show/recorder.hpp"

namespace gr::lab::show {

// An allocator that tells what it holds.
template <class A>
concept CanBeShown = Allocator<A> && requires(const A allocator, Picture picture) {
    { allocator.draw(picture) } -> std::same_as<void>;
};

template <CanBeShown A>
class Recorded {
  public:
    void *allocate(std::size_t size) {
        const Call call(this, {"malloc", nullptr, size});
        void *const block = allocator_.allocate(size);
        gave(block);
        return block;
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        const Call call(this, {"memalign", nullptr, size});
        void *const block = allocator_.allocate_aligned(size, alignment);
        gave(block);
        return block;
    }
    void free(void *p) {
        const Call call(this, {"free", p});
        took_back(p);
        allocator_.free(p);
    }
    std::size_t usable_size(const void *p) { return allocator_.usable_size(p); }
    std::size_t zeroed_above() const { return allocator_.zeroed_above(); }
    void thread_ends() {
        const Call call(this, {"the thread ends"});
        allocator_.thread_ends();
    }
    void lock() { allocator_.lock(); }
    void unlock() { allocator_.unlock(); }

  private:
    // For a scope.
    class [[nodiscard]] Call {
      public:
        Call(const Recorded *of, const ProgramCall &call) : is_step_(enter_call({&of->allocator_, draw}, call)) {}
        ~Call() {
            if (is_step_) leave_call();
        }
        Call(const Call &) = delete;
        Call &operator=(const Call &) = delete;

      private:
        bool is_step_;
    };

    static void draw(const void *allocator, Picture &picture) { static_cast<const A *>(allocator)->draw(picture); }

    A allocator_;
};

template <class A, bool kIsRecorded>
struct ServedBy {
    using Type = A;
};
template <CanBeShown A>
struct ServedBy<A, true> {
    using Type = Recorded<A>;
};
// What the face calls.
template <Allocator A>
using Served = typename ServedBy<A, kShown>::Type;

}  // namespace gr::lab::show
