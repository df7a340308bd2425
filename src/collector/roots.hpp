// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where marking begins: what threads have, variables of the program and its libraries, and ranges that it names.
// Invariant: the world is stopped while they are visited; a range that the program took away before is not visited.
// Must not know: how marking goes on.
#pragma once

#include "platform/world/modules.hpp"
#include "platform/world/thread_record.hpp"
#include "platform/world/world.hpp"

namespace gr {

class Roots {
  public:
    constexpr Roots() = default;

    // Once, before any collection.
    void initialise() { records_.initialise(); }

    // With the lock of the collector. false: no memory.
    bool add(platform::Range range) { return added_.add(range); }
    // What lies wholly in it.
    void remove(platform::Range range);

    // Stops all threads but the caller and those exempt, while no library comes or goes. false: nobody is stopped, or
    // not all is known of what is loaded; then the world must go on, and nothing be visited.
    bool stop(std::span<const std::uint32_t> exempt);
    void resume() { platform::world.resume(); }

    // visit(range) for each. The caller's own stack is visited from this call's frame on, its registers in it.
    template <class Visit>
    void for_each(Visit visit) const {
        for_each_of_threads(visit);
        for (const platform::Range range : modules_.variables()) visit(range);
        for (const platform::Range range : added_.all()) visit(range);
    }
    // Bytes of what is neither stack nor the program's own ranges, for pacing.
    std::size_t static_bytes() const;

  private:
    template <class Visit>
    void for_each_of_threads(Visit visit) const {
        std::size_t at = 0;
        while (const platform::StoppedThread *const thread = platform::world.next_stopped(&at)) {
            visit(stack_from(thread->stack_pointer, thread->thread_pointer));
            // It ran on a stack of its own for signals, or of a coroutine: what it was interrupted on counts whole.
            const platform::Range other = other_stack(*thread);
            if (!other.is_empty()) visit(other);
            records_.for_each_range(thread->thread_pointer, modules_, visit);
        }
        __builtin_unwind_init();  // registers that calls preserve onto the stack
        const auto *const here = static_cast<const char *>(__builtin_frame_address(0));
        visit(stack_from(here, platform::thread_pointer()));
        records_.for_each_range(platform::thread_pointer(), modules_, visit);
    }
    // Up to the end of the mapping, or to the thread's record if that lies in it above.
    platform::Range stack_from(const char *pointer, std::uintptr_t thread_pointer) const;
    static platform::Range other_stack(const platform::StoppedThread &thread);

    platform::ThreadRecords records_;
    platform::Modules modules_;
    platform::MappedList<platform::Range> added_;
};

}  // namespace gr
