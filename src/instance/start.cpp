// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the start of an instance: options, the reservation, its tables, rseq, and the moment the sequences are switched
//    on; and its end.
// Invariant: an instance starts once. Another thread that needs the instance meanwhile waits; a re-entrant call on the
//    starting thread does not. The entries malloc and free serve malloc's instance only.
// Must not know: the C library's and C++'s names for what the allocator does.
#include <algorithm>

#include "instance/heap_tables.hpp"
#include "instance/instance.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "platform/rseq/stop.hpp"
#include "platform/sanitizer.hpp"

namespace gr {
namespace {

// Slabs may take one of so many parts of a limit on addresses, or of an instance's region. If the slabs for every
// possible concurrency id need more, there are stripes and no sequences.
constexpr std::size_t kSlabsParts = 8;
constexpr int kRefused = 1;

std::size_t at_least(std::size_t least, std::size_t bytes) { return bytes < least ? least : bytes; }
std::size_t at_most(std::size_t most, std::size_t bytes) { return bytes < most ? bytes : most; }

std::size_t region_size(const Options &options) {
    std::size_t bytes = options.region;
    if (bytes == 0) bytes = platform::physical_memory_bytes() * kRegionPerPhysicalByte;
    return at_least(kRegionMinBytes, at_most(kRegionMaxBytes, bytes));
}

// Leaves half of a limit on addresses to stacks and mappings.
std::size_t reservation_size(const Options &options) {
    const std::size_t limit = platform::address_space_limit();
    return at_least(kRegionMinBytes, at_most(limit == SIZE_MAX ? limit : limit / 2, region_size(options)));
}

// The range has room for a limit that is raised later, as far as the tables for that stay small.
std::size_t scarce_range(const Options &options, std::size_t limit) {
    const std::size_t later = at_most(platform::highest_address_space_limit(), limit * kScarceRangePerByte);
    return at_least(kRegionMinBytes, at_most(later, region_size(options)));
}

// Where addresses are scarce, few of them may stay unused, unless an option sets another bound.
void keep_little(Options *options, std::size_t limit) {
    const std::size_t little = limit / kScarceRetainParts;
    if (options->retain == kRetainBytes) options->retain = at_most(little, kRetainBytes);
    if (options->reuse == kReuseBytes) options->reuse = at_most(little, kReuseBytes);
}

std::size_t region_size_beside(std::size_t wanted) {
    std::size_t bytes = wanted;
    if (bytes == 0) {
        const std::size_t limit = platform::address_space_limit() / kFirstClassPartsOfLimit;
        bytes = limit < kFirstClassRegionBytes ? limit : kFirstClassRegionBytes;
    }
    if (bytes > kRegionMaxBytes) bytes = kRegionMaxBytes;
    return bytes < kRegionMinBytes ? kRegionMinBytes : bytes;
}

std::uint32_t stripe_count(std::size_t bytes_for_slabs) {
    const std::size_t most = bytes_for_slabs < kMaxHeaps * kSlabBytes ? bytes_for_slabs / kSlabBytes : kMaxHeaps;
    const std::size_t wanted = std::size_t{platform::usable_cpus()} * kStripesPerCpu;
    const std::size_t count = wanted < most ? wanted : most;
    return count < kMinStripes ? kMinStripes : static_cast<std::uint32_t>(count);
}

void say_ignored(std::size_t hard_limit, std::size_t tables) {
    TextBuffer<256> line;
    line << "granary: ignoring GRANARY_LIMIT: a hard limit of " << hard_limit << " bytes leaves no room beside the "
         << tables << " bytes of the allocator's own tables; set a higher limit\n";
    platform::write_all(2, line.data(), line.size());
}

[[noreturn]] void refuse_thread_sanitizer() {
    TextBuffer<256> line;
    line << "granary: this program runs under ThreadSanitizer, which does not see Granary's malloc and would report "
         << "races that are none; run it without Granary\n";
    platform::write_all(2, line.data(), line.size());
    platform::exit(kRefused);
}

void say_hello(const Instance &allocator) {
    TextBuffer<512> line;
    line << "granary: running, " << (allocator.heaps().uses_sequences() ? "with" : "without") << " rseq, "
         << allocator.region().reserved_bytes() / kMiB << " MiB of addresses mapped or reserved";
    if (const auto *const file = reinterpret_cast<const char *>(allocator.options().options_file)) {
        const std::string_view name(file);
        line << ", options from " << name.substr(0, kShownOptionBytes)
             << (name.size() > kShownOptionBytes ? "..." : "");
    }
    line << '\n';
    platform::write_all(2, line.data(), line.size());
}

}  // namespace

bool Instance::start() {
    if (!platform::is_relocated()) return false;
    State seen = State::cold;
    if (state_.compare_exchange_strong(seen, State::starting, std::memory_order_acquire)) {
        starter_.store(platform::thread_tag(), std::memory_order_relaxed);
        if (platform::hides_calls_from_thread_sanitizer()) refuse_thread_sanitizer();
        const bool ready = set_up();
        Direct::decide_entry_count();
        if (region_.is_scarce()) Direct::make_table();  // while there are addresses
        publish_tables(*this);
        state_.store(ready ? State::ready : State::without_region, std::memory_order_release);
        if (options_.verbose != 0) say_hello(*this);
        return ready;
    }
    while (seen == State::starting) {
        if (starter_.load(std::memory_order_relaxed) == platform::thread_tag()) return false;
        platform::yield();
        seen = state_.load(std::memory_order_acquire);
    }
    return seen == State::ready;
}

// Sequences need a slab for each concurrency id, and zeros as large. Without room for them, without rseq, or where
// found_at is nullptr, there are as many heaps as stripes. Every call of find_rseq writes the same offsets.
HeapsSetup Instance::heaps_within(std::size_t slabs_most, std::uint32_t ids, char **found_at) const {
    HeapsSetup setup;
    setup.stripes = setup.heaps = stripe_count(slabs_most);
    const bool fits = ids != 0 && ids <= kMaxHeaps && ids * kSlabBytes * 2 <= slabs_most;
    if (found_at == nullptr || options_.rseq == 0 || !fits || !platform::find_rseq(&platform::gr_sequence_state))
        return setup;
    setup.found_at = found_at;
    if (setup.heaps < ids) setup.heaps = ids;
    return setup;
}

// Where addresses are scarce: no more heaps than there can be CPUs.
HeapsSetup Instance::scarce_heaps_within(std::size_t slabs_most, char **found_at) const {
    const std::uint32_t ids = platform::cpu_bound();
    HeapsSetup setup = heaps_within(slabs_most, ids, found_at);
    if (setup.has_sequences() && setup.stripes > ids) setup.stripes = setup.heaps = ids;
    return setup;
}

bool Instance::set_up() {
    options_ = Options::defaults();
    read_options(OptionSources::of_process(), &options_);
    filling_ = Filling(options_);
    if (static_cast<HugePolicy>(options_.huge_pages) == HugePolicy::automatic)
        huge_pages_for_ = platform::huge_pages_for();

    // Free memory that stays mapped counts against both limits, and may make the kernel refuse the program's own
    // mappings.
    const std::size_t limit = at_most(platform::address_space_limit(), platform::data_limit());
    const bool scarce = limit <= kScarceLimit;
    if (scarce) keep_little(&options_, limit);
    char **const found_at = &platform::gr_sequence_state.slabs;
    HeapsSetup setup = scarce ? scarce_heaps_within(limit / kScarceSlabsParts, found_at)
                              : heaps_within(limit / kSlabsParts, platform::cpu_bound(), found_at);
    if (scarce) setup.address_saving_least = limit / kScarceSavingParts;
    const bool far = lay_out(setup, [&](const TableSizes &sizes) {
        return scarce ? region_.spread(scarce_range(options_, limit), sizes, limit)
                      : region_.open(region_size(options_), sizes);
    });
    if (!far &&
        !lay_out(setup, [&](const TableSizes &sizes) { return region_.reserve(reservation_size(options_), sizes); }))
        return false;
    set_limits();
    if (setup.has_sequences()) publish();
    return true;
}

bool Instance::start_beside(const Instance &first, std::size_t region_bytes, const char *free_function) {
    options_ = first.options_;
    filling_ = first.filling_;
    huge_pages_for_ = first.huge_pages_for_;
    region_bytes = region_size_beside(region_bytes);
    HeapsSetup setup = heaps_within(region_bytes / kSlabsParts, 0, nullptr);
    setup.free = free_function;
    if (!lay_out(setup, [&](const TableSizes &sizes) { return region_.reserve(region_bytes, sizes); })) return false;
    state_.store(State::ready, std::memory_order_release);
    return true;
}

bool Instance::start_within(const Options &options, const Within &within, const char *free_function,
                            platform::SlabsPlace *found) {
    options_ = options;
    forbid_direct();
    const bool scarce = within.address_limit != SIZE_MAX;
    if (scarce) keep_little(&options_, within.address_limit);
    HeapsSetup setup = scarce ? scarce_heaps_within(within.address_limit / kScarceKindSlabsParts, &found->slabs)
                              : heaps_within(within.bytes / kSlabsParts, platform::cpu_bound(), &found->slabs);
    setup.free = free_function;
    const bool done = lay_out(setup, [&](const TableSizes &sizes) {
        return scarce ? region_.spread_within(within.place, within.bytes, sizes, within.address_limit)
                      : region_.settle(within.place, within.bytes, sizes);
    });
    if (!done) return false;
    if (setup.has_sequences()) {
        *found = {.slabs = region_.readable_table(), .base = region_.base()};
        found_ = found;
    }
    state_.store(State::ready, std::memory_order_release);
    return true;
}

void Instance::end() {
    direct_.release_all();
    region_.unreserve();
}

// take(sizes) makes the region take its addresses.
template <class Take>
bool Instance::lay_out(HeapsSetup setup, Take take) {
    const std::size_t owners_bytes = align_up(Heaps::owners_bytes(setup.heaps), kCacheLineBytes);
    TableSizes sizes;
    // Behind the slabs lie zeros. The sequences find the zeros while they are stopped.
    const std::size_t slabs_bytes = setup.heaps * kSlabBytes;
    const bool can_stop = setup.has_sequences() && platform::register_for_stops();
    sizes.readable_bytes = can_stop ? slabs_bytes * 2 : slabs_bytes;
    sizes.fixed_bytes = owners_bytes + PageHeap::kFixedBytes;
    std::ranges::copy(PageHeap::kBytesPerChunk, sizes.bytes_per_chunk.begin());
    std::ranges::copy(Superblocks::kBytesPerChunk, sizes.bytes_per_chunk.begin() + kPageHeapTables);
    sizes.seldom_used = Superblocks::kWideBitmaps;
    if (!take(sizes)) return false;

    setup.slabs = region_.readable_table();
    if (can_stop) setup.zeroes = setup.slabs + slabs_bytes;
    setup.owners = region_.fixed_table();
    setup.magazine_budget = options_.magazine;
    const auto huge_pages = static_cast<HugePolicy>(options_.huge_pages);
    const HugePageMaker maker = huge_page_maker(huge_pages, huge_pages_for_);
    pages_.initialise(setup.owners + owners_bytes, options_.retain, maker, options_.reuse);
    direct_.use_huge_pages(huge_pages);
    heaps_.initialise(setup);
    return true;
}

void Instance::set_limits() {
    const std::size_t tables = region_.metadata_bytes();
    if (!leaves_room(options_.hard_limit)) {
        say_ignored(options_.hard_limit, tables);
        options_.soft_limit = options_.hard_limit = 0;
    }
    pages_.limit().initialise(MemoryLimit::of_option(options_.soft_limit), MemoryLimit::of_option(options_.hard_limit));
    pages_.limit().took(tables);
    direct_.count_against(&pages_.limit());
}

// From here on the assembly takes the fast path, except for blocks that are filled. A thread that sees a limit sees the
// other words, too: at start-up no second thread can allocate yet, since creating a thread allocates.
void Instance::publish() {
    platform::SequenceState &state = platform::gr_sequence_state;
    state.base = region_.base();
    state.slabs = region_.readable_table();
    std::atomic_thread_fence(std::memory_order_release);
    if (!filling_.fills_freed()) region_.publish_fine_end(&state.fine_limit);
    let_entry_allocate(true);
}

void Instance::let_entry_allocate(bool may) {
    const bool may_now = may && heaps_.uses_sequences() && !filling_.fills_new();
    std::atomic_ref(platform::gr_sequence_state.size_limit)
        .store(may_now ? kFineLimit + 1 : 0, std::memory_order_release);
}

}  // namespace gr
