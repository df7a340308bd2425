// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the part of Marker that scans blocks by the form of their descriptor, and that scans marked blocks again.
// Invariant: as in marker.hpp.
// Must not know: how words are followed.
#include <algorithm>

#include "base/bits.hpp"
#include "collector/marker.hpp"
#include "collector/word_at.hpp"
#include "platform/world/readable.hpp"

namespace gr {

void Marker::scan(Task task) {
    const Descriptor::Form form = task.descriptor.form();
    const bool asks = form == Descriptor::Form::procedure || form == Descriptor::Form::per_object;
    if (asks && mode_ == MarkMode::incremental) {
        if (!later_.push(task)) failed_ = true;
        return;
    }
    switch (form) {
        case Descriptor::Form::length:
            return scan_readable({task.begin, task.begin + task.descriptor.length()});
        case Descriptor::Form::bitmap:
            return scan_bitmap(task.begin, task.descriptor.bitmap());
        case Descriptor::Form::procedure:
            return scan_by_procedure(task);
        case Descriptor::Form::per_object:
            return scan(Task{task.begin, own_descriptor(task)});
    }
}

void Marker::scan_readable(platform::Range range) {
    if (range.bytes() <= most_unasked_) return scan(range);
    platform::for_each_readable(range, [this](platform::Range row) { scan(row); });
}

void Marker::scan_bitmap(const char *begin, std::uintptr_t bitmap) {
    while (bitmap != 0) {
        const auto word = static_cast<unsigned>(std::countl_zero(bitmap));
        bitmap &= ~(~(~std::uintptr_t{0} >> 1) >> word);
        consider(word_at(begin + std::size_t{word} * sizeof(void *)));
    }
}

// A procedure gives the marker words by current(), or tasks by the stack that it gets.
void Marker::scan_by_procedure(Task task) {
    constexpr std::size_t kRoom = 256;
    Task room[kRoom + 1];
    const MarkProcedure procedure = procedures_[task.descriptor.procedure()];
    if (procedure == nullptr) return;
    const Current current(*this);
    auto *const block = reinterpret_cast<std::uintptr_t *>(const_cast<char *>(task.begin));
    Task *top = procedure(block, &room[0], &room[kRoom], task.descriptor.environment());
    for (; top != &room[0]; --top) push(*top);
}

// A descriptor that refers to another one counts as empty. A block whose first word was not written yet has no
// descriptor.
Descriptor Marker::own_descriptor(Task task) {
    const std::intptr_t displacement = task.descriptor.displacement();
    Descriptor own;
    if (displacement >= 0) {
        own = Descriptor(word_at(task.begin + displacement));
    } else if (const std::uintptr_t type = word_at(task.begin); type != 0) {
        const auto at = static_cast<std::intptr_t>(type) - (displacement + Descriptor::kIndirectBias);
        own = Descriptor(word_at(reinterpret_cast<const char *>(at)));
    }
    return own.form() == Descriptor::Form::per_object ? Descriptor() : own;
}

void Marker::reach_all(const CollectorView &view, std::uint32_t kind) {
    const Superblocks &superblocks = *field_.kind(kind).superblocks;
    view.for_each_superblock([&](const Superblock *s) {
        const char *const begin = superblocks.begin(s);
        const Bitmap free = superblocks.free_bits(s);
        for (std::uint32_t i = 0; i < s->shape().blocks; ++i)
            if (!free.test(BlockIndex(i)))
                consider(reinterpret_cast<std::uintptr_t>(begin + std::size_t{i} * s->shape().size));
    });
    view.for_each_run(
        [&](const Superblock *run) { consider(reinterpret_cast<std::uintptr_t>(superblocks.begin(run))); });
}

std::size_t Marker::push_marked(std::uint32_t kind, platform::Range written) {
    const Field::Kind &k = field_.kind(kind);
    std::size_t bytes = 0;
    for (const char *at = written.begin; at < written.end;) {
        const auto unit_end =
            reinterpret_cast<const char *>(align_down(reinterpret_cast<std::uintptr_t>(at), kUnitBytes)) + kUnitBytes;
        const platform::Range part{at, written.end < unit_end ? written.end : unit_end};
        at = part.end;
        const Superblock *const s = k.superblocks->head(k.region->unit_of(part.begin));
        if (s->use != UnitUse::superblock && s->use != UnitUse::run) continue;
        if (k.marks->covers(s->unit) && part.begin >= k.superblocks->begin(s)) bytes += push_marked(k, s, part);
    }
    return bytes;
}

// Neighbouring blocks of which every word counts become one task.
std::size_t Marker::push_marked(const Field::Kind &k, const Superblock *s, platform::Range part) {
    const std::size_t size = Superblocks::block_size(s);
    const Mark *const marks = k.marks->row(s);
    const Descriptor descriptor = k.adds_size ? k.descriptor.plus(size) : k.descriptor;
    const bool is_whole = descriptor.form() == Descriptor::Form::length && descriptor.length() == size;
    const char *const first = k.superblocks->begin(s);
    const auto offset_of = [first](const char *p) { return static_cast<std::size_t>(p - first); };
    const std::size_t blocks = s->use == UnitUse::run ? 1 : s->shape().blocks;
    const std::size_t behind = std::min(blocks, (offset_of(part.end) + size - 1) / size);
    const auto is_marked = [&](std::size_t i) { return marks[i].load(std::memory_order_relaxed) == number_; };
    std::size_t bytes = 0;
    for (std::size_t i = offset_of(part.begin) / size; i < behind;) {
        i = Marks::first_of(marks, i, behind, number_);
        std::size_t count = i < behind ? 1 : 0;
        while (is_whole && count != 0 && i + count < behind && is_marked(i + count)) ++count;
        if (count == 0) break;
        const Descriptor all = is_whole ? Descriptor::of_length(count * size) : descriptor;
        bytes += push_part({first + i * size, all}, part);
        i += count;
    }
    return bytes;
}

// The worklist's loop scans faster than one scan() for each block. Returns the bytes that will be scanned.
std::size_t Marker::push_part(Task task, platform::Range part) {
    if (task.descriptor.form() != Descriptor::Form::length) {
        push(task);
        return sizeof(void *);
    }
    const char *const end = task.begin + task.descriptor.length();
    const platform::Range both{task.begin > part.begin ? task.begin : part.begin, end < part.end ? end : part.end};
    if (both.begin >= both.end) return 0;
    push({both.begin, Descriptor::of_length(both.bytes())});
    return both.bytes();
}

void Marker::scan_left() {
    while (later_.find_more()) {
        for (Task *top = later_.top(); !later_.is_empty(top);) {
            const Task task = *--top;
            later_.set_top(top);
            scan(task);
        }
    }
}

}  // namespace gr
