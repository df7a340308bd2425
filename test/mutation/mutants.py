# SPDX-License-Identifier: Apache-2.0 OR MIT
# What:      the mutants: ways to break the heap and what lies under it, each by one line of one file.
# Invariant: an old text stands exactly once in its file (mutants_test.py); with the new one the library compiles and
#            some promise does not hold.
# Must not know: how a mutant is built and run, and what finds it: `first` only says which tests look first.
"""The table. Where a line was rewritten: find the one that has its duty now, or take the entry out."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str  # under src
    old: str
    new: str
    first: str  # test programs, as ctest calls them
    breaks: str


def of_file(file: str, first: str, *rows: tuple[str, str, str, str]) -> tuple[Mutant, ...]:
    return tuple(Mutant(name, file, old, new, first, breaks) for name, breaks, old, new in rows)


def faults(mutants: Iterable[Mutant], src: Path, tests: Container[str]) -> Iterator[str]:
    """What is wrong with a table."""
    names = Counter(mutant.name for mutant in mutants)
    for mutant in mutants:
        path = src / mutant.file
        found = path.read_text().count(mutant.old) if path.is_file() else 0
        if found != 1:
            yield f"{mutant.name}: {mutant.file} has its text {found} times: {mutant.old}"
        if mutant.new == mutant.old:
            yield f"{mutant.name}: it changes nothing"
        if names[mutant.name] != 1:
            yield f"{mutant.name}: there are {names[mutant.name]} of that name"
        for name in mutant.first.split():
            if name not in tests:
                yield f"{mutant.name}: there is no test {name}"


MUTANTS = (
    *of_file(
        "heap/refiller.cpp", "heap.refiller",
        ("refill-loses", "blocks that a refill could not push are lost",
         "if (kept != count)", "if (kept > count)"),
        ("refill-believes", "who moves to another CPU while pushing loses the blocks",
         "kept = pushed < 0 ? 0 :", "kept = pushed < 0 ? count :"),
        ("refill-ignores-news", "a superblock is opened while freed blocks wait",
         "if (heap.has_news()) {", "if (false && heap.has_news()) {"),
        ("refill-opens-two", "a refill opens one superblock after another",
         "taken == 0 ? superblock_for(o, c, prefer) : nullptr", "superblock_for(o, c, prefer)"),
        ("refill-no-arrears", "memory grows while other heaps hold more than they may",
         "if (Superblock *const s = ownership_.collect_arrears(o, c)) return s;", ""),
        ("refill-own-magazines", "memory is refused while the heap's own magazines hold some",
         "flusher_.flush_all(o);", ""),
        ("refill-others-magazines", "memory is refused while other heaps' magazines hold some",
         "flusher_.flush_all(from);", ""),
        ("refill-waits", "who needs memory waits for another heap's lock",
         "!owners_.try_lock(from)) continue;", "!owners_.lock(from)) continue;"),
        ("refill-no-regret", "pages that were given back and are taken again earn nothing",
         "pages_.retook(retaken);", ""),
    ),
    *of_file(
        "heap/flusher.cpp", "heap.flusher",
        ("flush-all", "a flush gives everything back, not half",
         ".capacity(c) + 1) / 2", ".capacity(c) + 1)"),
        ("flush-drops", "a block for which its magazine has no slot is lost",
         "popped == 0 ? 1 :", "popped == 0 ? 0 :"),
        ("flush-half-sent", "half of what a remote magazine held is lost",
         "static_cast<std::size_t>(popped)}", "static_cast<std::size_t>(popped) / 2}"),
        ("flush-moved", "who moves to another CPU sends what he did not take",
         "if (popped < 0) return Result::moved;\n    const std::size_t", "const std::size_t"),
        ("flush-keeps-remote", "who is out of memory leaves the remote magazine as it is",
         "flush_remote_locked(o, false);", ""),
        ("flush-loses-detached", "what a stop finds in a remote magazine is lost",
         "post_.send(o, slab.detached(kRemoteMagazine));", ""),
    ),
    *of_file(
        "heap/post.cpp", "heap.post heap.mail heap.look",
        ("post-uncounted", "letters are not counted for an idle owner (rule 6)",
         "post_.remote_.note(draft.to, draft.bytes, MayWait::yes);", ""),
        ("post-unvisited", "letters are counted, but no idle owner is drained for them (rule 6)",
         "draft.bytes, MayWait::yes);", "draft.bytes, MayWait::no);"),
        ("post-drops-draft", "a draft is dropped for want of room",
         "send(drafts_[--begun_]);", "--begun_;"),
        ("post-waits", "without paper nobody reads for the slowest reader",
         "post_.remote_.settle(slowest);", ""),
        ("post-sleepless", "who had to be read for is not found asleep",
         "if (letter != nullptr) outbox_.found_asleep(slowest, uses);", ""),
        ("post-loses-rest", "what finds no room in a magazine when a letter is opened is lost",
         "returns_.give_back(o, left, left_count, MayWait::no);", ""),
        ("post-believes", "who reads letters for another heap loses the blocks",
         "kept = pushed < 0 ? 0 :", "kept = pushed < 0 ? alike :"),
        ("post-waits-inside", "who opens letters waits for a global bin's lock",
         "returns_.give_back(o, left, left_count, MayWait::no);", "returns_.give_back(o, left, left_count);"),
        ("post-overflows", "more is kept for the bitmaps than there is room for",
         "if (left_count + count > kMostLeft)", "if (left_count > kMostLeft)"),
        ("post-interior", "a pointer to the inside of a block gets into a letter",
         "if (!superblocks_.may_be_block(shape, p))", "if (false && !superblocks_.may_be_block(shape, p))"),
        ("post-keeps", "a reader keeps what is not its own any more",
         "touchable && e != 0 && owner_in(e) == o", "touchable && e != 0"),
    ),
    *of_file(
        "heap/mail.hpp", "heap.mail heap.post",
        ("mail-sleeps-on", "a heap that is used again counts as asleep",
         "is_asleep(o) && sleepers_uses_ == uses", "is_asleep(o)"),
        ("mail-order", "what was freed last comes first out of a letter",
         "out[written - 1 - i]", "out[i]"),
        ("mail-overwrites", "a letter on its way is written anew",
         "if (letter.is_blank()) return", "if (letter.is_blank() || true) return"),
    ),
    *of_file(
        "heap/take_all_stack.hpp", "heap.mail",
        ("stack-drops", "a push loses what lies on the stack",
         "last->link.store(head,", "last->link.store(nullptr,"),
    ),
    *of_file(
        "heap/remote_frees.cpp", "heap.returns",
        ("remote-unannounced", "remote bits are set and their owner never told",
         "announce(s);", ""),
        ("remote-patient", "an idle owner is drained far too late (rule 6)",
         "? 0 : kRemoteThreshold)", "? 0 : 8 * kRemoteThreshold)"),
        ("remote-deep", "a drain drains others",
         "may_wait == MayWait::yes) settle(o);", "may_wait <= MayWait::yes) settle(o);"),
    ),
    *of_file(
        "heap/remote_batch.hpp", "heap.returns heap.post",
        ("batch-wrong-word", "bits of several words are set in one",
         "if (entry.superblock != s || entry.word != at.word) {", "if (entry.superblock != s) {"),
    ),
    *of_file(
        "heap/drain.cpp", "heap.returns",
        ("drain-counts-on", "what was drained still counts as waiting",
         "owners.owner(o).remote_bytes.store(0, std::memory_order_relaxed);", ""),
    ),
    *of_file(
        "heap/remote_protocol.hpp", "heap.post",
        ("protocol-no-mail", "a drain opens no letters",
         "world.open_mail(owner);", ""),
    ),
    *of_file(
        "heap/remote_protocol.hpp", "test_model",
        ("protocol-mark", "a drain leaves the mark set",
         "world.exchange_mark(node, 0);", ""),
        ("protocol-drops", "a drain drops what is another's (rule 2)",
         "post(world, node);  // rule 2", "// rule 2"),
        ("protocol-passive", "nobody drains for the passive (rule 3)",
         "|| world.is_passive(owner)) settle", ") settle"),
        ("protocol-once", "after a settling's unlock nobody looks again (rule 3)",
         "while (world.has_pending(owner) && world.try_lock(owner))",
         "if (world.has_pending(owner) && world.try_lock(owner))"),
    ),
    *of_file(
        "heap/ownership.cpp", "heap.ownership",
        ("owner-keeps-empty", "what falls empty is not given back",
         "\n    if (s->is_empty()) {", "\n    if (false) {"),
        ("owner-no-invariant", "Hoard's invariant is not restored when blocks come back",
         "restore_invariant(o, c, MayWait::no);", ""),
        ("owner-waits", "who gives blocks back, perhaps inside a drain, waits for a global bin's lock",
         "restore_invariant(o, c, MayWait::no);", "restore_invariant(o, c, MayWait::yes);"),
        ("owner-waits-for-heap", "who wants what others hold too much waits for their locks",
         "if (!owners_.try_lock(from)) {", "if (!owners_.lock(from)) {"),
        ("owner-no-arrears", "what a held lock left undone is forgotten",
         "owners_.global(c).arrears.store(true, std::memory_order_relaxed);", ""),
        ("owner-orphan", "what went to the global heap is not offered there",
         "target.offered.store(target.bin.superblocks(), std::memory_order_relaxed);", ""),
        ("owner-robbed", "who lost its fullest superblock is left too empty",
         "restore_invariant(from, c, MayWait::yes);  // what", "// what"),
    ),
    *of_file(
        "heap/ownership.hpp", "heap.ownership heap.sweeper",
        ("visit-moved", "a visitor meets a superblock that changed hands while he waited for the lock",
         "if (store_.entry(u) == e && owner_of(s) == o && s->use == UnitUse::superblock) visit", "visit"),
        ("visit-wrong-owner", "a visitor of an owner finds one that was the owner",
         "const bool still = owner_of(s) == o;", "const bool still = true;"),
    ),
    *of_file(
        "heap/returns.hpp", "heap.returns heap.post",
        ("return-sleeper-held", "whose lock is taken still counts as asleep",
         "return outbox_->found_awake(), false;", "return false;"),
        ("return-moved", "a block is given under the lock of who was the owner",
         "if (owner_of(ref.superblock) != o) return 0;", ""),
    ),
    *of_file(
        "heap/unit_store.cpp", "heap.ownership heap.unit_store",
        ("units-no-entries", "the unit map does not say who owns a superblock",
         "store_entries(region_, s, entry_of(to, s->size_class));", ""),
        ("units-in-handler", "a handler that interrupted the heaps takes the page heap",
         "if (!Inside::is_again() && pages_", "if (pages_"),
    ),
    *of_file(
        "heap/owners.hpp", "heap.flusher",
        ("owners-share", "each heap's magazines may hold what all together may",
         "(kBudgetParts * std::size_t{active_heaps()})", "kBudgetParts"),
    ),
    *of_file(
        "heap/capacities.cpp", "heap.capacities heap.look",
        ("capacity-loses", "blocks of a magazine that narrows and moves are lost",
         "static_cast<std::uint32_t>(count - kept)", "0 * static_cast<std::uint32_t>(count - kept)"),
        ("look-stays", "looks see the same slots again and again",
         "policy.set_hand(c, static_cast<std::uint32_t>(slot - header.begin));", ""),
        ("look-ignores", "a look that suspects does nothing",
         "if (slot < end) [[unlikely]]", "if (false) [[unlikely]]"),
        ("unused-live", "a magazine is emptied though blocks of its class are live",
         "if (cached == 0 || cached != bin.used_blocks(c)) continue;", "if (cached == 0) continue;"),
        ("unused-sparse", "a superblock with a page or two is given up",
         "if (resident >= kUnusedBytes)", "if (resident != 0)"),
        ("unused-never", "a superblock of each class that ever was used stays",
         "if (resident >= kUnusedBytes)", "if (false)"),
    ),
    *of_file(
        "heap/magazine.hpp", "heap.magazine heap.flusher",
        ("magazine-unbounded", "magazines grow beyond the budget",
         "(doubled < most ? doubled : most)", "(doubled > most ? doubled : most)"),
        ("magazine-always-quiet", "a magazine in use is narrowed",
         "state_[c.value].quiet = state_[c.value].unused = false;", ""),
    ),
    *of_file(
        "heap/magazine.cpp", "heap.flusher heap.magazine",
        ("magazine-leaves", "a magazine moves and leaves its blocks behind",
         "if (old.current != old.begin) return false;", ""),
        ("magazine-short", "of what is out of reach one block is forgotten",
         "slot(header_at, magazine.detached)}", "slot(header_at, magazine.detached) - 1}"),
        ("magazine-open", "a magazine whose blocks were taken out of reach takes more",
         "magazine.limit = magazine.begin;", ""),
    ),
    *of_file(
        "heap/bin.hpp", "heap.bin",
        ("bin-order", "the emptiest count as the fullest",
         "s->free_count * kFullnessGroups", "s->used_count() * kFullnessGroups"),
        ("bin-emptiest", "the fullest of those that are empty enough goes to the global heap",
         "for (unsigned g = kFullnessGroups - 1; g != 0; --g)", "for (unsigned g = 1; g < kFullnessGroups; ++g)"),
        ("bin-link", "who leaves the middle of a list is still its neighbour's neighbour",
         "if (s->next != nullptr) s->next->previous = s->previous;", ""),
    ),
    *of_file(
        "heap/sweeper.cpp", "heap.sweeper heap.sweep",
        ("sweep-unclaimed", "blocks of a page that goes can be handed out meanwhile",
         "ownership_.took(o, s, superblocks_.claim_pages(s, pages));", ""),
        ("sweep-refused", "pages that the kernel refused count as given back",
         "* page, count * page)) return;", "* page, count * page) && page == 0) return;"),
        ("sweep-all", "one free does the whole sweep",
         "sweep_chunks(cycle_.take_chunks(slack_),", "sweep_chunks(cycle_.left(),"),
        ("sweep-waits", "a free waits for whoever sweeps",
         "if (!mutex_.try_lock(platform::Rank::sweep)) return;", "if (!mutex_.lock(platform::Rank::sweep)) return;"),
        ("sweep-anew", "each step begins a sweep and none goes on",
         "if (cycle_.is_under_way()) {", "if (false && cycle_.is_under_way()) {"),
        ("sweep-slack", "what was swept still counts as free and resident",
         "if (!is_heap(o)) slack_.subtract(absent);", ""),
        ("sweep-splits", "a huge page is split for one page",
         "return empty >= kChunkBytes / kHugeSplitParts;", "return empty != 0;"),
    ),
    *of_file(
        "heap/slack.hpp", "heap.slack heap.sweep_cycle",
        ("slack-forgets", "what is taken and freed again does not count as freed",
         "if (left < least_.load(std::memory_order_relaxed)) least", "if (left == 0) least"),
        ("slack-twice", "what is no whole step counts in this one and in the next",
         "return growth - rest;", "return growth;"),
    ),
    *of_file(
        "heap/dense_chunks.cpp", "heap.dense_chunks",
        ("dense-hollow", "a chunk with absent pages becomes a huge page",
         "absent <= kChunkBytes / kHugeAbsentParts", "absent <= kChunkBytes"),
        ("dense-run", "a chunk with a run in it becomes a huge page",
         "if (e == 0 || e == kRunEntry)", "if (e == 0)"),
        ("dense-free", "a chunk with a free unit becomes a huge page",
         "if (e == 0 || e == kRunEntry)", "if (e == kRunEntry)"),
    ),
    *of_file(
        "heap/census.cpp", "heap.census",
        ("census-letters", "blocks in letters are counted nowhere",
         "owners_.outbox(o).for_each_block(count);", ""),
        ("census-remote", "the last block of each remote magazine is not counted",
         "slot < remote.current", "slot + 1 < remote.current"),
        ("census-global", "the global heap's superblocks are not counted",
         "add(owners_.global(c).bin);", ""),
        ("census-blind", "a wrong count of what is free in the global heap is no fault",
         "if (idle != slack_.bytes()) return", "if (false && idle != slack_.bytes()) return"),
    ),
    *of_file(
        "heap/reclaimer.cpp", "heap.reclaimer heap.reclaim",
        ("reclaim-busy", "heaps in use are robbed with the idle ones",
         "if (!is_wanted(o, which) || !owners_", "if (!owners_"),
        ("reclaim-unstopped", "magazines are taken though the sequences could not be stopped",
         "if (!stopped.done() || !is_wanted(o, which)) return;", "if (!is_wanted(o, which)) return;"),
        ("reclaim-once", "what came by letter during a stop stays in magazines",
         "if (!inside.again() && flush_stopped(which)) flush_each(which);",
         "if (!inside.again()) flush_stopped(which);"),
        ("reclaim-in-handler", "a handler that interrupted the heaps stops the sequences",
         "if (!inside.again() && flush_stopped(which))", "if (flush_stopped(which))"),
        ("reclaim-keeps-lock", "a heap of which nothing is wanted stays locked",
         "if (!owners_.slab(o).has_detached()) remote_.unlock_and_settle(o);", "static_cast<void>(o);"),
        ("reclaim-letters", "letters that the last heap wrote are opened by nobody",
         "owners_.for_each_heap([this](OwnerIndex o) { remote_.settle(o); });", ""),
        ("reclaim-deferred", "what a handler released stays out of use",
         "store_.release_deferred();", ""),
    ),
    *of_file(
        "superblock/superblocks.cpp", "superblock.superblocks",
        ("give-low", "blocks given below the first word with something free are not found again",
         "if (w < lowest) lowest = w;", ""),
        ("give-edge", "a row of blocks that is given backwards reaches beyond its word",
         "length(-size, bit + 1)", "length(-size, bit + 2)"),
        ("take-behind", "what lies behind the last block stays absent when that is taken",
         "if (to == s->shape().bytes_of_blocks()) to = s->bytes();", ""),
        ("collect-twice", "a double free by remote bits is not found",
         "if (both != 0) {", "if (false && both != 0) {"),
        ("pages-again", "absent pages are given back again",
         "if (empty && !s->absent.has(number))", "if (empty)"),
    ),
    *of_file(
        "superblock/page_set.hpp", "superblock.superblocks heap.sweep",
        ("pages-edge", "of the pages that are touched the last is not taken out",
         "low_bits(last - begin + 1)", "low_bits(last - begin)"),
    ),
    *of_file(
        "base/bitmap.hpp", "superblock.superblocks heap.sweep",
        ("bitmap-edge", "of a row of bits the last is not changed",
         "low_bits(last.value - begin + 1)", "low_bits(last.value - begin)"),
    ),
    *of_file(
        "region/page_heap.cpp", "region.page_heap",
        ("pages-neighbour", "empty neighbours are given back one by one",
         "if (count != 0 && piece.first + piece.count", "if (false && piece.first + piece.count"),
        ("purge-uncounted", "what was given back still counts against the limit",
         "limit_.gave(bytes);", ""),
        ("pages-cold", "what was given back is not found by who wants cold units",
         "if (!dirty && c.value < cold_from_) cold_from_ = c.value;", ""),
        ("pages-regret", "units that were given back earn again each time they are used",
         "chunk.given_back &= ~mask;", ""),
    ),
    *of_file(
        "region/allowance.hpp", "region.allowance",
        ("earned-unbounded", "more is earned than may be",
         "bytes < most_earned_ - now ? now + bytes : most_earned_", "now + bytes + 0 * most_earned_"),
        ("earned-beyond-peak", "units are earned beyond the peak of what was in use",
         "return wanted < room ? wanted", "return wanted < room + wanted ? wanted"),
    ),
    *of_file(
        "region/memory_limit.hpp", "region.memory_limit",
        ("limit-each", "a request is held against the limit by itself",
         "bytes > hard_ - held", "bytes > hard_"),
    ),
)
