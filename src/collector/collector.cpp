// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/collector.hpp"

#include <algorithm>
#include <utility>

#include "collector/reachability.hpp"
#include "collector/unstoppable_threads.hpp"
#include "instance/instances.hpp"
#include "platform/cgroup.hpp"
#include "platform/process.hpp"
#include "platform/reentry.hpp"

namespace gr {
namespace {

const char *path_of(const Options &options) { return reinterpret_cast<const char *>(options.collections); }

}  // namespace

constinit Collector collector;

bool Collector::start(int signal) {
    Options options = Options::defaults();
    options.retain = kRetain;
    read_options(OptionSources::of_process(), &options);
    retains_by_pace_ = options.retain == kRetain;
    if (!kinds_.start(options) || !platform::world.initialise(signal)) return false;
    log_.initialise(path_of(options));
    roots_.initialise();
    publish_tables();
    started_.store(true, std::memory_order_release);
    return true;
}

bool Collector::start_over(Instance &adopted, const KindSetup &setup, int signal) {
    const Kind *const kind = kinds_.adopt(adopted, setup);
    if (kind == nullptr || !platform::world.initialise(signal)) return false;
    // What says where blocks begin points to the first.
    const Region &region = adopted.region();
    const auto *const knows_region = reinterpret_cast<const char *>(&region);
    const char *const blocks = region.address(region.first_unit());
    const char *const end = setup.lifetime == Lifetime::held_back ? blocks : region.base() + region.range_bytes();
    looks_everywhere_ =
        roots_.exclude({region.base(), end}) && roots_.exclude({knows_region, knows_region + sizeof region});
    for (const platform::Range marks : kind->marks.addresses())
        looks_everywhere_ = looks_everywhere_ && roots_.exclude(marks);
    kinds_.field().set_may_be_protected(true);
    log_.initialise(path_of(adopted.options()));
    if (looks_everywhere_) publish_tables();
    started_.store(looks_everywhere_, std::memory_order_release);
    return looks_everywhere_;
}

void Collector::lock() {
    if (!mutex_.held_by_me()) mutex_.lock_always(platform::Rank::collector);
    ++depth_;
}

bool Collector::try_lock() {
    if (!mutex_.held_by_me() && !mutex_.try_lock(platform::Rank::collector)) return false;
    ++depth_;
    return true;
}

void Collector::unlock() {
    if (--depth_ == 0) mutex_.unlock(platform::Rank::collector);
}

Kind *Collector::make_kind(const KindSetup &setup) {
    abandon_cycle();
    Kind *const kind = kinds_.make(setup);
    if (kind != nullptr) instances.add(kind->instance);
    return kind;
}

void Collector::collect_if_due() {
    if (has_cycles()) take_part_in_cycle();
    const std::size_t held = present_bytes();
    if (!pace_.automatic.load(std::memory_order_relaxed) || !may_collect()) return;
    if (has_cycles()) return keep_pace_with_cycle(held);
    if (!pace_.is_due(held)) return;
    if (try_lock()) {
        collect_and_unlock(hooks_.must_stop, Reason::due);
    } else {
        wait_for_collector();
    }
}

void Collector::wait_for_collector() {
    const std::uint32_t collection = collecting_.load(std::memory_order_relaxed);
    if (collection % 2 == 0 || collection == awaited_in_vain_.load(std::memory_order_relaxed)) return;
    if (platform::sleep_on_for(collecting_, collection, kMostWait))
        awaited_in_vain_.store(collection, std::memory_order_relaxed);
}

template <class Attempt>
void *Collector::after_collecting(std::size_t bytes, Attempt attempt) {
    collect_if_due();
    const std::size_t growth = bytes > kClassLimit ? bytes : 0;
    const auto may_have = [&](std::size_t held) { return held + growth < pace_.most.load(std::memory_order_relaxed); };
    if (may_have(present_bytes())) {
        if (void *const p = attempt()) return p;
    }
    // By what it left: others may have taken that meanwhile, and then this one would not get what it collected for.
    const CollectionReport left = collect(Reason::refused);
    return left.done && may_have(left.held) ? attempt() : nullptr;
}

void *Collector::allocate_slowly(Kind &kind, std::size_t size, std::size_t beyond) {
    if (size > kMaxRequest - kUnitBytes) return nullptr;
    return after_collecting(size, [&]() -> void * {
        if (size > kClassLimit) {
            const auto contents = kind.setup.zeroed ? Instance::Contents::zero : Instance::Contents::any;
            return kind.instance.allocate_run(size, size - beyond, contents);
        }
        const ClassIndex c = class_of(size == 0 ? 1 : size);
        void *const p = kind.instance.allocate(size_of_class(c));
        return p != nullptr && kind.clears_new() ? std::memset(p, 0, size_of_class(c)) : p;
    });
}

void *Collector::allocate_aligned(Kind &kind, std::size_t size, std::size_t alignment, std::size_t beyond) {
    if (size > kClassLimit && alignment <= kUnitBytes) return allocate_slowly(kind, size, beyond);
    if (size > kMaxRequest - kUnitBytes || alignment > kMaxRequest) return nullptr;
    void *const p = after_collecting(size, [&] { return kind.instance.allocate_aligned(size, alignment); });
    return p != nullptr && kind.setup.zeroed ? std::memset(p, 0, kind.instance.size_of(p)) : p;
}

BlockAt Collector::block_at(const void *p) const {
    const Target t = kinds_.field().target(reinterpret_cast<std::uintptr_t>(p));
    if (t.begin == nullptr) return {};
    return {const_cast<char *>(t.begin), t.bytes, t.extent, kinds_.kind(t.kind), t.mark};
}

std::size_t Collector::present_bytes() const {
    std::size_t bytes = finalization_.held_bytes();
    kinds_.for_each([&](const Kind &kind) { bytes += kind.instance.pages().present_bytes(); });
    return bytes;
}

bool Collector::may_collect() const {
    return pace_.disabled.load(std::memory_order_relaxed) <= 0 && !platform::Reentry::is_interrupted();
}

CollectionReport Collector::collect(bool (*must_stop)(), Reason reason) {
    if (!may_collect()) return {};
    lock();
    return collect_and_unlock(must_stop, reason);
}

CollectionReport Collector::collect_above(const char *stack_pointer) {
    if (!may_collect()) return {};
    lock();
    given_stack_pointer_ = stack_pointer;
    const CollectionReport report = collect_and_unlock(hooks_.must_stop, Reason::asked);
    given_stack_pointer_ = nullptr;
    return report;
}

CollectionReport Collector::collect_and_unlock(bool (*must_stop)(), Reason reason) {
    CollectionReport report;
    if (!is_collecting()) {
        collecting_.fetch_add(1, std::memory_order_relaxed);
        __builtin_unwind_init();  // registers that calls preserve onto the stack
        stack_pointer_ = given_stack_pointer_ != nullptr ? given_stack_pointer_ : Roots::below_caller();
        report = collect_locked(must_stop, reason);
        collecting_.fetch_add(1, std::memory_order_relaxed);
    }
    void (*const after)() = hooks_.after;
    unlock();
    platform::wake_all(collecting_);  // now, for who is woken may be given this thread's CPU
    if (report.done && after != nullptr && !is_locked_by_me()) after();
    return report;
}

CollectionReport Collector::collect_locked(bool (*must_stop)(), Reason reason) {
    CollectionReport report;
    report.reason = reason;
    if (must_stop != nullptr && must_stop()) return report;
    abandon_cycle();
    tell(Step::begin);
    markers_.ensure_helpers_for(last_.live_bytes);
    while_still(&report, [&] { walk(&report); });
    if (report.done) {
        end_collection(&report);
    } else if (const auto refused = std::exchange(hooks_.refused, nullptr); refused != nullptr) {
        refused(
            "threads could not be stopped, mappings could not be read, or memory ran out; check /proc and descriptors");
    }
    tell(Step::end);
    return report;
}

// While the world stands still.
void Collector::walk(CollectionReport *report) {
    const UnstoppableThreadsKeptOut kept_out(kinds_);
    if (!kept_out.done() || !kinds_.cover_marks()) return;
    const std::uint64_t began = platform::nanoseconds();
    tell(Step::marking);
    empty_caches();
    report->done = mark(report);
    tell(Step::marked);
    const std::uint64_t marked = platform::nanoseconds();
    report->marking_nanoseconds = marked - began;
    if (!report->done) return;
    tell(Step::sweeping);
    sweep(report);
    tell(Step::swept);
    report->sweeping_nanoseconds = platform::nanoseconds() - marked;
}

void Collector::end_collection(CollectionReport *report) {
    report->number = last_.number + 1;
    last_ = *report;
    settle(*report);
    log_.tell(*report);
}

// Whenever the numbers begin anew every mark is cleared, so that no old one counts.
std::uint8_t Collector::next_number() {
    if (number_ == UINT8_MAX) {
        kinds_.for_each([](Kind &kind) { kind.marks.clear(); });
        number_ = 0;
    }
    return ++number_;
}

// What is freed by the program only must not count as used because it is cached, nor be told of as dead: it is marked as
// such, and swept. What is held back is in no cache.
void Collector::empty_caches() {
    cached_ = next_number();
    kinds_.for_each([&](Kind &kind) { empty_caches(kind); });
}

void Collector::empty_caches(Kind &kind) {
    if (kind.setup.lifetime == Lifetime::held_back) return;
    CollectorView &view = kind.instance.collector_view();
    const bool is_exact = kind.setup.lifetime != Lifetime::collected || kind.tells_dead;
    if (is_exact) mark_cached(kind, cached_);
    view.drop_cached();
    if (!is_exact) return;
    view.keep_only([&](const Superblock *s, std::uint32_t word) { return ~kind.marks.live(s, word, cached_); });
}

void Collector::mark_cached(Kind &kind, std::uint8_t number) {
    kind.instance.collector_view().for_each_cached([&](const void *p) {
        const Target t = kinds_.field().target(reinterpret_cast<std::uintptr_t>(p));
        // What points into a block is no block: nobody has seen it since the program freed it.
        if (t.begin == p) t.mark->store(number, std::memory_order_relaxed);
    });
}

bool Collector::mark(CollectionReport *report) {
    const std::uint8_t number = next_number();
    prepare(number);
    markers_.begin(number, Phase::still);
    Marker marker(markers_.setup(number, Phase::still));
    const Marker::Current current(marker);
    const bool all_known = mark_roots(marker);
    return mark_all(marker, all_known, report);
}

// What the roots reach, and what finalizers and hooks make of it: nothing where there may be other roots.
bool Collector::mark_all(Marker &marker, bool all_known, CollectionReport *report) {
    if (!markers_.finish(marker) || !all_known) return false;
    finalize(marker, report);
    if (hooks_.reached != nullptr) {
        hooks_.reached();
        marker.drain();
    }
    return !marker.failed();
}

// Free blocks bear the number at once, so that nobody who marks need ask whether a block is free.
void Collector::prepare(std::uint8_t number) {
    kinds_.for_each([&](Kind &kind) {
        CollectorView &view = kind.instance.collector_view();
        view.for_each_superblock([&](Superblock *s) { stamp_free(kind, s, number); });
        kinds_.field().prepare(kind.number, view);
    });
}

void Collector::stamp_free(Kind &kind, Superblock *s, std::uint8_t number) {
    kind.marks.touch(s);
    if (kind.setup.lifetime == Lifetime::held_back) return;
    kind.instance.collector_view().for_each_free_word(
        s, [&](std::uint32_t word, Word bits) { kind.marks.stamp(s, word, bits, number); });
}

void Collector::finalize(Marker &marker, CollectionReport *report) {
    const auto java = hooks_.finalizes_as_java == nullptr ? JavaFinalization::on : hooks_.finalizes_as_java();
    Reachability reachability(kinds_.field(), marker);
    report->finalization = finalization_.settle(reachability, java);
}

// false: there may be others.
bool Collector::mark_roots(Marker &marker) {
    const auto scan = [&](platform::Range range) { look_through(marker, range); };
    if (looks_everywhere_) return roots_.for_each_written(stack_pointer_, markers_.stack_pointers(), scan);
    if (hooks_.push_roots != nullptr) {
        hooks_.push_roots();
    } else {
        push_threads();
    }
    roots_.for_each_variable(scan);
    finalization_.for_each_root([&](const void *p) { marker.consider_inside(reinterpret_cast<std::uintptr_t>(p)); });
    kinds_.for_each([&](Kind &kind) {
        if (kind.setup.lifetime == Lifetime::until_freed) marker.reach_all(kind.instance.collector_view(), kind.number);
    });
    return true;
}

// A stack that was allocated here ends with its block, not with the mapping.
void Collector::push_threads() {
    roots_.for_each_of_threads(!is_beside(), [this](platform::Range range) {
        const Target block = kinds_.field().target(reinterpret_cast<std::uintptr_t>(range.begin));
        if (block.begin != nullptr) range.end = std::min(range.end, block.begin + block.extent);
        Marker::current()->scan_stack(range);
    });
}

void Collector::sweep(CollectionReport *report) {
    Found found;
    report->held_before = present_bytes();
    kinds_.for_each([&](Kind &kind) {
        free_unmarked(kind, report);
        sweep_runs(kind, report, &found);
        kind.instance.collector_view().for_each_superblock(
            [&](const Superblock *s) { count(kind, s, report, &found); });
    });
    learn(found, report);
    give_back_marks(*report);
}

void Collector::free_unmarked(Kind &kind, CollectionReport *report) {
    if (kind.setup.lifetime != Lifetime::collected) return;
    if (kind.setup.asks_blocks()) zero_dead(kind);
    report->freed_blocks += kind.instance.collector_view().sweep(
        [&](const Superblock *s, std::uint32_t word) { return kind.marks.live(s, word, number_); });
}

void Collector::sweep_runs(Kind &kind, CollectionReport *report, Found *found) {
    const bool is_collected = kind.setup.lifetime == Lifetime::collected;
    const Region &region = kind.instance.region();
    kind.instance.collector_view().for_each_run([&](Superblock *run) {
        // A run without an entry is being acquired or released by a thread that was stopped.
        const bool stays = !is_collected || load_entry(region, run->unit) != kRunEntry ||
                           kind.marks.row(run->unit, false)->load(std::memory_order_relaxed) == number_;
        if (stays) {
            const std::size_t bytes = Superblocks::block_size(run);
            found->add_live(kind.has_pointers(), bytes);
            report->add_live(kind.number, 1, bytes);
            found->held += bytes;
        } else if (dead_runs_.add({&kind, run})) {  // what does not fit on the list is found by the next collection
            ++report->freed_blocks;
        }
    });
}

void Collector::count(const Kind &kind, const Superblock *s, CollectionReport *report, Found *found) {
    const std::size_t bytes = std::size_t{s->used_count()} * s->shape().size;
    found->add_live(kind.has_pointers(), bytes);
    report->add_live(kind.number, s->used_count(), bytes);
    if (s->used_count() != 0) found->held += s->bytes() - s->absent.count() * platform::page_size();
}

// At once, for what others allocate as soon as they run is no part of it.
void Collector::learn(Found found, CollectionReport *report) {
    found.roots = looks_everywhere_ ? roots_.written_bytes() : roots_.static_bytes();
    found.threads = report->threads;
    const std::size_t registered = finalization_.held_bytes();
    found.add_live(false, registered);
    found.held += registered;
    report->held = found.held;
    pace_.learn(found);
}

// Whatever still points there finds no descriptor that others wrote as something else.
void Collector::zero_dead(Kind &kind) const {
    for_each_block(kind, [](const BlockAt &block, bool is_marked) {
        if (!is_marked) std::memset(block.begin, 0, block.bytes);
    });
}

}  // namespace gr
