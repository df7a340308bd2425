// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/collector.hpp"

#include "collector/collector_tables.hpp"

namespace gr {
namespace {

const char *path_of(const Options &options) { return reinterpret_cast<const char *>(options.collections); }

}  // namespace

constinit const platform::Helper Collector::kMarkingThread{[] { collector.markers_.help(); }, "granary-mark"};
constinit const platform::Helper Collector::kCollectingThread{[] { collector.incremental_.run_for_ever(); },
                                                              "granary-collect"};
constinit Collector collector;

bool Collector::start(int signal) {
    Options options = Options::defaults();
    options.retain = MemoryReturn::kRetain;
    read_options(OptionSources::of_process(), &options);
    memory_return_.set_retains_by_pace(options.retain == MemoryReturn::kRetain);
    if (!kinds_.start(options) || !platform::world.initialise(signal)) return false;
    platform::world.permit_tracing(options.gc_tracer != 0);
    stopped_.keep_room(kinds_.address_limit());
    history_.initialise(path_of(options));
    pacer_.initialise(options);
    roots_.initialise();
    publish_tables();
    started_.store(true, std::memory_order_release);
    return true;
}

bool Collector::start_over(Instance &adopted, const KindSetup &setup, int signal) {
    const Kind *const kind = kinds_.adopt(adopted, setup);
    if (kind == nullptr) return false;
    publish_kind(*kind);
    if (!platform::world.initialise(signal)) return false;
    // The region's tables point to the first block of every superblock, so they are left out.
    const Region &region = adopted.region();
    const auto *const knows_region = reinterpret_cast<const char *>(&region);
    const char *const blocks = region.address(region.first_unit());
    const char *const tables = setup.lifetime == Lifetime::held_back ? region.fixed_table() : blocks;
    bool are_excluded = roots_.exclude({region.base(), blocks}) &&
                        roots_.exclude({tables, region.base() + region.range_bytes()}) &&
                        roots_.exclude({knows_region, knows_region + sizeof region});
    for (const platform::Range marks : kind->marks.addresses()) are_excluded = are_excluded && roots_.exclude(marks);
    roots_.set_everywhere(are_excluded);
    kinds_.field().set_may_be_protected(true);
    platform::world.permit_tracing(adopted.options().gc_tracer != 0);
    roots_.initialise_modules();
    history_.initialise(path_of(adopted.options()));
    pacer_.initialise(adopted.options());
    if (are_excluded) publish_tables();
    started_.store(are_excluded, std::memory_order_release);
    return are_excluded;
}

// Tools outside the process read these.
void Collector::publish_tables() {
    publish_memory(MemoryUse::unit_table, kinds_.field().unit_table().memory());
    publish_finalization(finalization_);
    incremental_.for_each_memory([](const platform::Growing &memory) { publish_memory(MemoryUse::snapshot, memory); });
    publish_collections(history_.last(), pace_, incremental_.enabled_cell(), memory_return_.retains_by_pace_cell());
}

Kind *Collector::make_kind(const KindSetup &setup) {
    abandon_incremental();
    Kind *const kind = kinds_.make(setup);
    if (kind == nullptr) return nullptr;
    publish_kind(*kind);
    instances.add(kind->instance);
    return kind;
}

bool Collector::collect_if_due() {
    if (is_incremental()) incremental_.take_part();
    const std::size_t held = kinds_.present_bytes();
    if (!pace_.automatic.load(std::memory_order_relaxed) || !may_collect(pace_)) return true;
    const bool is_only_young = is_young_due(held) && !is_whole_due(held);
    const bool is_wanted = is_only_young || (is_incremental() ? incremental_.keep_pace(held) : is_whole_due(held));
    return !is_wanted || collect_in_turn();
}

bool Collector::is_whole_due(std::size_t held) const {
    if (is_incremental()) return pace_.is_due_beside(held);
    return pace_.is_due(held) || (!generations_.are_worth() && finalization_.is_due());
}

bool Collector::is_young_due(std::size_t held) const {
    return generations_.is_due(held) || (generations_.are_worth() && finalization_.is_due());
}

// Another thread may have collected while this one waited for the lock. false: it could not be done.
bool Collector::collect_in_turn() {
    if (!lock_to_collect()) return true;
    const std::size_t held = kinds_.present_bytes();
    if (!is_incremental() && pace_.is_due(held)) pacer_.reconsider(held);
    if (is_whole_due(held)) return collect_and_unlock(hooks_.must_stop, Reason::due).done;
    if (is_young_due(held))
        return collect_and_unlock(hooks_.must_stop, Reason::young, generations_.most_rescanned()).done;
    unlock();
    return true;
}

bool Collector::lock_to_collect() {
    const std::uint32_t collection = lock_.collecting().load(std::memory_order_relaxed);
    if (try_lock()) {
        if (!lock_.is_collecting()) return true;
        unlock();  // the caller is a hook of its own collection
        return false;
    }
    const auto may_be_blocked = [this] {
        return roots_.loader_locks().may_be_held_by_other_than(lock_.collecting_task());
    };
    if (!CollectorLock::is_collecting(collection)) {
        // The holder is about something short, or has just begun to collect.
        while (!lock_.lock_for(kMostWait)) {
            if (may_be_blocked()) return false;
        }
        return true;
    }
    while (lock_.collecting().load(std::memory_order_relaxed) == collection) {
        const bool is_time_up = platform::sleep_on_for(lock_.collecting(), collection, kMostWait);
        if (is_time_up && may_be_blocked()) break;
    }
    return false;
}

template <class Attempt>
void *Collector::after_collecting(std::size_t bytes, Attempt attempt) {
    collect_if_due();
    const std::size_t growth = bytes > kClassLimit ? bytes : 0;
    const auto may_have = [&](std::size_t held) { return held + growth < pace_.most.load(std::memory_order_relaxed); };
    if (may_have(kinds_.present_bytes())) {
        if (void *const p = attempt()) return p;
    }
    // What the collection left decides: other threads may have taken some since, and then this thread would not get
    // what it collected for.
    const CollectionReport left = collect(Reason::refused);
    return left.done && may_have(left.held) ? attempt() : nullptr;
}

void *Collector::allocate_slowly(Kind &kind, std::size_t size, std::size_t beyond) {
    if (size > kMaxRequest - kUnitBytes) return nullptr;
    return after_collecting(size, [&]() -> void * {
        if (size > kClassLimit) {
            const auto contents = kind.clears_new() ? Instance::Contents::zero : Instance::Contents::any;
            return kind.instance.allocate_run(size, size - beyond, contents);
        }
        const ClassIndex c = class_of(size == 0 ? 1 : size);
        void *const p = kind.instance.allocate(size_of_class(c));
        return p != nullptr ? as_new(kind, p, size_of_class(c)) : nullptr;
    });
}

void *Collector::allocate_aligned_slowly(Kind &kind, std::size_t size, std::size_t alignment, std::size_t beyond) {
    if (size > kClassLimit && alignment <= kUnitBytes) return allocate_slowly(kind, size, beyond);
    if (size > kMaxRequest - kUnitBytes || alignment > kMaxRequest) return nullptr;
    void *const p = after_collecting(size, [&] { return kind.instance.allocate_aligned(size, alignment); });
    return p != nullptr && kind.clears_new() ? std::memset(p, 0, kind.instance.size_of(p)) : p;
}

CollectionReport Collector::collect(bool (*must_stop)(), Reason reason) {
    if (!may_collect(pace_)) return {};
    lock();
    return collect_and_unlock(must_stop, reason);
}

CollectionReport Collector::collect_above(const char *stack_pointer) {
    if (!may_collect(pace_)) return {};
    lock();
    given_stack_pointer_ = stack_pointer;
    const CollectionReport report = collect_and_unlock(hooks_.must_stop, Reason::asked);
    given_stack_pointer_ = nullptr;
    return report;
}

CollectionReport Collector::collect_and_unlock(bool (*must_stop)(), Reason reason, std::size_t most_rescanned) {
    CollectionReport report;
    if (!lock_.is_collecting()) {
        lock_.begin_collecting();
        __builtin_unwind_init();  // registers that calls preserve onto the stack
        root_scanner_.set_caller(given_stack_pointer_ != nullptr ? given_stack_pointer_ : Roots::below_caller());
        report = collect_locked(must_stop, reason, most_rescanned);
        lock_.end_collecting();
    }
    void (*const after)() = hooks_.after;
    unlock();
    lock_.wake_waiting();
    if (report.done && after != nullptr && !is_locked_by_me()) after();
    return report;
}

CollectionReport Collector::collect_locked(bool (*must_stop)(), Reason reason, std::size_t most_rescanned) {
    CollectionReport report;
    report.reason = reason;
    if (must_stop != nullptr && must_stop()) return report;
    abandon_incremental();
    if (reason == Reason::young && generations_.is_known()) {
        minor_.run(&report, most_rescanned);
    } else {
        if (reason == Reason::young) report.reason = Reason::asked;
        stopped_.run(&report);
        if (!report.done) finalization_.put_off();
    }
    return report;
}

void Collector::forget_other_threads() {
    markers_.forget_other_threads();
    dirty_pages_.forget();
    incremental_.forget_other_threads();
    generations_.forget_watch();
}

}  // namespace gr
