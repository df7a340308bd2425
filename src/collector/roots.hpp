// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where marking begins: what threads have, variables of the program and its libraries, and ranges that it names.
// Invariant: the threads stand while roots are visited. A range that the program removed before the stop is not
//    visited.
// Must not know: how marking goes on.
#pragma once

#include "platform/thread.hpp"
#include "platform/world/mappings.hpp"
#include "platform/world/modules.hpp"
#include "platform/world/readable.hpp"
#include "platform/world/tasks.hpp"
#include "platform/world/thread_record.hpp"
#include "platform/world/world.hpp"
#include "platform/world/written_pages.hpp"

namespace gr {

class Roots {
  public:
    constexpr Roots() = default;

    // Once, before any collection.
    void initialise() {
        records_.initialise();
        initialise_modules();
    }
    // In place of initialise(), where roots are everywhere.
    void initialise_modules() { modules_.initialise(); }
    const platform::LoaderLocks &loader_locks() const { return modules_.locks(); }

    // Under the collector's lock. A range that lies in a known range is not added again. false: no memory.
    bool add(platform::Range range);
    // Removes the added ranges that lie wholly in this one.
    void remove(platform::Range range);
    // Variables and added ranges in this range are not visited. false: no memory.
    bool exclude(platform::Range range) { return excluded_.add(range); }
    bool overlaps_excluded(platform::Range range) const { return first_excluded(range) != nullptr; }
    void forget_excluded() { excluded_.clear(); }
    // Says of which libraries the variables are visited.
    void set_wants(platform::Modules::Wants wants) { modules_.set_wants(wants); }
    // The function may move the stack pointer from which the stack of a known thread is scanned. nullptr: there is none.
    using CorrectStackPointer = void (*)(const char **stack_pointer, std::uintptr_t handle);
    void set_corrector(CorrectStackPointer correct) { correct_ = correct; }
    // Whether the last stop found a variable there.
    bool is_variable(const void *p) const;

    // Stops all threads except the caller and those exempt, while no library comes or goes. false: no thread is
    // stopped, because the threads, libraries or mappings could not be listed. lock() is called first in any case, after
    // the loader's lock was taken or given up: the holder of that lock may wait for a lock of ours.
    bool stop(std::span<const std::uint32_t> exempt, void (*lock)());
    void resume() {
        mappings_.end_asking();
        platform::world.resume();
    }

    // Calls visit(range) for each range that threads have. With `with_caller` the caller's own stack is visited from
    // this call's frame on, which holds its registers.
    template <class Visit>
    [[gnu::noinline]] void for_each_of_threads(bool with_caller, Visit visit) const {
        std::size_t at = 0;
        while (const platform::StoppedThread *const thread = platform::world.next_stopped(&at))
            visit_thread(*thread, visit);
        // A thread that could not be stopped and waits in the kernel has its roots on its stack, except registers that are
        // saved nowhere.
        at = 0;
        while (const platform::StoppedThread *const thread = platform::world.next_unstoppable(&at)) {
            const char *const pointer = platform::sleeping_stack_pointer(thread->id);
            platform::StoppedThread sleeping = *thread;
            sleeping.stack_pointer = pointer - kRedZone;
            if (pointer != nullptr) platform::for_each_readable(stack_from(sleeping), visit);
        }
        if (!with_caller) return;
        __builtin_unwind_init();  // registers that calls preserve onto the stack
        platform::StoppedThread caller = platform::world.caller();
        caller.stack_pointer = below_caller();
        visit_thread(caller, visit);
    }
    template <class Visit>
    void for_each_variable(Visit visit) const {
        for (const platform::Range range : modules_.variables()) visit_but_excluded(range, visit);
        for (const platform::Range range : added_.all()) visit_but_excluded(range, visit);
    }
    // In place of both: visits all private memory that the process has written to, where roots are everywhere. Excluded
    // ranges and the unused parts of stacks are left out: of threads, of the caller and of the given pointers. false:
    // the kernel does not report all, so there may be other roots.
    template <class Visit>
    [[nodiscard]] bool for_each_written(const char *own_pointer, std::span<const char *const> stack_pointers,
                                        Visit visit) {
        unused_.clear();
        written_bytes_ = 0;
        platform::WrittenPages pages;
        if (!pages.opened() || !mappings_.read() || !find_unused(own_pointer, stack_pointers)) return false;
        const auto visit_pages = [&](const platform::Mapping &mapping) {
            using Of = platform::WrittenPages::Of;
            const platform::Range range{mapping.begin, mapping.end};
            return pages.for_each(range, mapping.is_named ? Of::file : Of::memory, [&](platform::Range row) {
                visit_but_excluded(row, [&](platform::Range part) {
                    written_bytes_ += part.bytes();
                    visit(part);
                });
            });
        };
        for (const platform::Mapping &mapping : mappings_.all()) {
            const bool is_own = mapping.readable && mapping.is_private && (mapping.writable || !mapping.is_named);
            if (is_own && !visit_pages(mapping)) return false;
        }
        for (const platform::Range range : modules_.constants()) visit(mapped_part(range));
        return true;
    }
    // An address below the caller's whole frame: a function may save registers below the address of its frame.
    [[gnu::noinline]] static const char *below_caller() {
        return static_cast<const char *>(__builtin_frame_address(0));
    }
    // Whether everything that the process has written to is a root.
    bool are_everywhere() const { return are_everywhere_; }
    void set_everywhere(bool wanted) { are_everywhere_ = wanted; }

    // Bytes of variables and added ranges.
    std::size_t static_bytes() const;
    // What the pace counts: the bytes of what is no stack.
    std::size_t paced_bytes() const { return are_everywhere_ ? written_bytes_ : static_bytes(); }

  private:
    // The lowest excluded range that overlaps the range, or nullptr.
    const platform::Range *first_excluded(platform::Range range) const;
    template <class Visit>
    void visit_but_excluded(platform::Range range, Visit visit) const {
        while (const platform::Range *const hole = first_excluded(range)) {
            if (range.begin < hole->begin) visit(platform::Range{range.begin, hole->begin});
            if (hole->end >= range.end) return;
            range.begin = hole->end;
        }
        visit(range);
    }
    static constexpr std::size_t kRedZone = 128;

    template <class Visit>
    void visit_thread(platform::StoppedThread thread, Visit visit) const {
        if (!thread.registers.is_empty()) visit(thread.registers);
        if (correct_ != nullptr && thread.handle != 0) correct_(&thread.stack_pointer, thread.handle);
        // Above the stack there may be others, below its beginning a guard.
        platform::for_each_readable(stack_from(thread), visit);
        // The thread runs on a stack for signals or on a coroutine's: how much of its own stack is in use is not known.
        // But a program that tells where a coroutine's stack ends tells of the other stacks, too.
        const platform::Range own = own_stack(thread);
        const bool is_elsewhere = !own.contains(thread.stack_pointer) && !has_told_end(thread);
        if (thread.is_on_stack_for_signals || is_elsewhere) visit_written(own, visit);
        records_.for_each_range(thread.thread_pointer, modules_,
                                [&](platform::Range range) { visit(mapped_part(range)); });
    }
    // Of most stacks only a small part was ever written to.
    template <class Visit>
    void visit_written(platform::Range stack, Visit visit) const {
        using Of = platform::WrittenPages::Of;
        platform::WrittenPages pages;
        const bool is_own = mappings_.of(stack.begin).is_private;
        const bool is_known = is_own && pages.opened() && pages.for_each(whole_pages(stack), Of::memory, visit);
        if (!is_known) platform::for_each_readable(stack, visit);
    }
    // Whether the program told where the stack ends that the thread is on.
    bool has_told_end(const platform::StoppedThread &thread) const;
    // Up to the end that the program told, or else to the end of the mapping, or to the thread's record if that lies in
    // it above.
    platform::Range stack_from(const platform::StoppedThread &thread) const;
    static platform::Range whole_pages(platform::Range range);
    // A thread may still have the block of a library that is gone, under the number of a new one that has larger
    // blocks.
    platform::Range mapped_part(platform::Range range) const;
    platform::Range own_stack(const platform::StoppedThread &thread) const;
    // The stack, or nothing if the stack cannot be told from other memory.
    platform::Range alone(platform::Range stack) const;
    bool find_unused(const char *own_pointer, std::span<const char *const> stack_pointers);

    platform::ThreadRecords records_;
    platform::Modules modules_;
    platform::MappingTable mappings_;  // of the last stop
    platform::MappedList<platform::Range> added_;
    platform::MappedList<platform::Range> excluded_;
    platform::MappedList<platform::Range> unused_;  // in this stop: unused parts of stacks, and tables of addresses
    bool are_everywhere_ = false;
    std::size_t written_bytes_ = 0;  // at the last visit of all that was written
    CorrectStackPointer correct_ = nullptr;
};

}  // namespace gr
