// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the arena of jemalloc: bins of small regions and runs of pages over chunks of its own, under one lock.
// Invariant: a bin takes from its current run, which is in no list, until that is full or empty. Any other run is in
//    the list of its state, or in none while it is full. An empty run is destroyed, but for one that never left QINIT;
//    of those a bin has one at most.
// Must not know: threads, and which arena is whose.
#pragma once

#include "parts/jemalloc/chunk.hpp"
#include "parts/jemalloc/run_layout.hpp"
#include "parts/lists/lock.hpp"
#include "platform/events.hpp"

namespace gr::lab {

// What option P tells of a bin.
struct BinCounts {
    std::size_t requests = 0;
    std::size_t runs_made = 0;
    std::size_t runs = 0;
    std::size_t most_runs = 0;

    void operator+=(const BinCounts &other) {
        requests += other.requests;
        runs_made += other.runs_made;
        runs += other.runs;
        most_runs += other.most_runs;
    }
};

template <RunStates States>
class Arena {
  public:
    using ArenasChunk = Chunk<Arena>;

    // What option P tells.
    struct Counts {
        std::size_t large_requests = 0;
        std::size_t chunks = 0;
        std::size_t most_chunks = 0;
    };

    explicit constexpr Arena(const RunLayout *layout) : layout_(layout) {}

    // nullptr: no memory.
    void *allocate_small(std::size_t size) {
        const unsigned index = layout_->bins().bin_of(size);
        const RunShape &shape = layout_->shape(index);
        Bin &bin = bins_[index];
        const std::lock_guard held(lock_);
        if (bin.current == nullptr && !choose_current(bin, index)) return nullptr;
        show::rule("jemalloc 2006, figure 5", "The first free region of the bin's current run is taken.");
        SmallRun *const run = bin.current;
        ++bin.counts.requests;
        void *const block = shape.region(run, run->regions.take());
        const RunState before = run->state;
        run->state = States::after(before, run->regions.used(), shape.regions());
        if (run->state != before)
            show::rule("jemalloc 2006, figure 5", "The run is fuller than its state allows: it goes to a higher one.");
        if (run->regions.free() == 0) retire_current(bin);
        return block;
    }
    void *allocate_large(std::size_t size) {
        const std::lock_guard held(lock_);
        ++large_requests_;
        return chunks_.take(layout_->chunk(), this, RunLayout::order_of(size), PageUse::large);
    }

    // A block of one of its chunks. Dies of what the page map and the region bitmap show to be none.
    void free(ArenasChunk *chunk, void *p) {
        const std::lock_guard held(lock_);
        const PageEntry &entry = chunk->entry_of(p);
        switch (entry.used_for()) {
            case PageUse::small:
                return free_small(chunk, entry, p);
            case PageUse::large:
                if (chunk->run_of(entry) != p) die_of_no_block(p);
                layout_->options().fill_freed(p, kRunPageBytes << entry.order);
                return put(chunk, entry);
            case PageUse::free:
            case PageUse::header:
                die_of_no_block(p);
        }
    }
    // Of a block in use, whose run stays as it is meanwhile.
    static std::size_t usable_size(ArenasChunk *chunk, const RunLayout &layout, const void *p) {
        const PageEntry &entry = chunk->entry_of(p);
        if (entry.used_for() == PageUse::small) return layout.shape(run_of(chunk, entry, p)->bin).size();
        if (entry.used_for() != PageUse::large || chunk->run_of(entry) != p) die_of_no_block(p);
        return kRunPageBytes << entry.order;
    }

    // false: it had no spare chunk.
    bool give_back_spare() {
        const std::lock_guard held(lock_);
        return chunks_.give_back_spare(layout_->chunk());
    }
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

    bool has_chunk() const { return chunks_.count() != 0; }
    BinCounts counts_of(unsigned bin) {
        const std::lock_guard held(lock_);
        return bins_[bin].counts;
    }
    Counts counts() {
        const std::lock_guard held(lock_);
        return {large_requests_, chunks_.count(), chunks_.most()};
    }
    // For tests: the run that a region lies in.
    static const SmallRun *run_of(ArenasChunk *chunk, const void *p) { return run_of(chunk, chunk->entry_of(p), p); }

    // A run that is in no list of its bin and is not current is full.
    void draw(auto &picture, auto place) const {
        picture.lock(place, &lock_);
        const auto chunks =
            picture.place(place, show::PlaceKind::list, picture.words("chunks"), picture.words("chunks"));
        const auto full =
            picture.place(place, show::PlaceKind::list, picture.words("full"), picture.words("full runs"));
        chunks_.draw(picture, chunks, layout_->chunk(), [&](const void *pages) {
            const auto *const run = static_cast<const SmallRun *>(pages);
            layout_->shape(run->bin).draw(picture, run);
            picture.stands(run, full);
        });
        for (unsigned i = 0; i < layout_->bins().count(); ++i)
            if (bins_[i].counts.runs != 0)
                bins_[i].draw(picture, picture.place(place, show::PlaceKind::bin, picture.words("b", i),
                                                     picture.words(layout_->bins().size_of(i), " bytes")));
    }

  private:
    struct Bin {
        SmallRun *current = nullptr;
        LinkedList<SmallRun> runs[kRunStates];
        BinCounts counts;

        LinkedList<SmallRun> &in(RunState state) { return runs[static_cast<unsigned>(state)]; }
        void draw(auto &picture, auto place) const {
            const auto own =
                picture.place(place, show::PlaceKind::online, picture.words("current"), picture.words("current run"));
            if (current != nullptr) picture.stands(current, own);
            for (unsigned i = 0; i < kRunStates; ++i)
                runs[i].draw(picture, place, show::PlaceKind::list, kRunStateNames[i]);
        }
    };

    static SmallRun *run_of(ArenasChunk *chunk, const PageEntry &entry, const void *p) {
        auto *const run = static_cast<SmallRun *>(chunk->run_of(entry));
        if (run->mark != SmallRun::kMark) die_of_no_block(p);
        return run;
    }

    // false: no memory.
    bool choose_current(Bin &bin, unsigned index) {
        platform::count(platform::Event::refill);
        SmallRun *run = nullptr;
        for (const RunState state : States::preference())
            if (run == nullptr) run = bin.in(state).pop_front();
        if (run == nullptr)
            show::rule("jemalloc 2006, figure 5", "The bin has no run with a free region: a new run begins in QINIT.");
        else
            show::rule("jemalloc 2006, figure 5",
                       "A run of Q50, else Q25, Q0, Q75 or QINIT becomes the bin's current one.");
        if (run == nullptr) run = make_run(bin, index);
        if (run == nullptr) return false;
        run->is_current = true;
        bin.current = run;
        return true;
    }
    SmallRun *make_run(Bin &bin, unsigned index) {
        const RunShape &shape = layout_->shape(index);
        void *const pages = chunks_.take(layout_->chunk(), this, shape.order(), PageUse::small);
        if (pages == nullptr) return nullptr;
        BinCounts &counts = bin.counts;
        ++counts.runs_made;
        ++counts.runs;
        counts.most_runs = std::max(counts.most_runs, counts.runs);
        return new (pages) SmallRun(index, shape.regions());
    }
    // It is full or empty.
    static void retire_current(Bin &bin) {
        bin.current->is_current = false;
        bin.current = nullptr;
    }

    void free_small(ArenasChunk *chunk, const PageEntry &entry, void *p) {
        SmallRun *const run = run_of(chunk, entry, p);
        const RunShape &shape = layout_->shape(run->bin);
        Bin &bin = bins_[run->bin];
        const RunState before = run->state;
        const bool was_listed = !run->is_current && run->regions.free() != 0;
        if (!run->regions.put(shape.index_of(run, p))) die_of_no_block(p);
        layout_->options().fill_freed(p, shape.size());
        run->state = States::after(before, run->regions.used(), shape.regions());

        if (run->state != before)
            show::rule("jemalloc 2006, figure 5", "The run is emptier than its state allows: it goes to a lower one.");
        const bool is_empty = run->regions.used() == 0;
        if (run->is_current) {
            if (!is_empty) return;
            retire_current(bin);
        } else if (was_listed) {
            if (!is_empty && run->state == before) return;
            bin.in(before).remove(run);
        }
        if (!is_empty || !States::is_destroyed_empty(run->state)) return bin.in(run->state).push_front(run);
        show::rule("jemalloc 2006, figure 5", "A run that emptied in Q0 is destroyed: its pages are free.");
        run->mark = 0;
        --bin.counts.runs;
        put(chunk, entry);
    }
    void put(ArenasChunk *chunk, const PageEntry &entry) {
        chunks_.put(layout_->chunk(), chunk, entry, layout_->options().hint != 0);
    }

    alignas(kCacheLineBytes) Lock<Rank::heap> lock_;
    const RunLayout *layout_;
    ChunkSet<Arena> chunks_;
    std::size_t large_requests_ = 0;
    Bin bins_[QuantumBins::kMostBins];
};

}  // namespace gr::lab
