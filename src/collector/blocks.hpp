// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the blocks of all kinds: by any address, and each in turn, with their marks.
// Invariant: a block that is known to be free is not found.
// Must not know: who marks; what becomes of blocks.
#pragma once

#include "collector/mark_numbers.hpp"

namespace gr {

// A block that is in use or cached.
struct BlockAt {
    void *begin = nullptr;  // nullptr: there is no block
    std::size_t bytes = 0;
    Kind *kind = nullptr;
};

class Blocks {
  public:
    constexpr Blocks(const Kinds &kinds, const MarkNumbers &numbers) : kinds_(kinds), numbers_(numbers) {}
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;

    // The block that the address points into.
    BlockAt at(const void *p) const;
    // By the last collection, or by the collection that runs. p points into a block; an address outside blocks is not
    // marked.
    bool is_marked(const void *p) const;
    void set_mark(const void *p, bool marked) const;
    // Calls visit(BlockAt, is_marked) for all blocks in use. Only while no other thread runs or allocates. In a kind
    // that tells its dead blocks, no block is only cached then.
    template <class Visit>
    void for_each(Kind &kind, Visit visit) const {
        const CollectorView &view = kind.instance.collector_view();
        const auto visit_at = [&](char *begin) {
            if (const BlockAt block = at(begin); block.begin == begin) visit(block, is_marked(begin));
        };
        view.for_each_superblock([&](const Superblock *s) {
            char *const begin = kind.instance.superblocks().begin(s);
            for (std::uint32_t i = 0; i < s->shape().blocks; ++i) visit_at(begin + std::size_t{i} * s->shape().size);
        });
        view.for_each_run([&](const Superblock *run) { visit_at(kind.instance.superblocks().begin(run)); });
    }

  private:
    Target target(const void *p) const { return kinds_.field().target(reinterpret_cast<std::uintptr_t>(p)); }

    const Kinds &kinds_;
    const MarkNumbers &numbers_;
};

}  // namespace gr
