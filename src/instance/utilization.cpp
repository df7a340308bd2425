// SPDX-License-Identifier: Apache-2.0 OR MIT
// "Used" means not in the free bitmap, for the superblock and for the class, so that the two can be compared.

#include "instance/utilization.hpp"

namespace gr {
namespace {

// Other threads change the bins meanwhile, so a sum may be smaller than one of its parts.
std::uint64_t rest(std::uint64_t whole, std::uint64_t part) { return whole > part ? whole - part : 0; }

// The superblock is less full than the average, and its blocks fit into what the others have free.
bool move_helps(const gr_utilization &u) {
    const std::uint64_t class_free = rest(u.class_blocks, u.class_used);
    const std::uint64_t room = rest(class_free, u.superblock_blocks - u.superblock_used);
    return u.superblock_used * u.class_blocks < u.class_used * u.superblock_blocks && u.superblock_used <= room;
}

}  // namespace

bool find_utilization(const Instance &allocator, const void *p, gr_utilization *out) {
    if (!allocator.owns(p)) return false;
    *out = {allocator.size_of(p), 1, 1, 1, 1, 0};
    if (!allocator.region().contains(p)) return true;
    const BlockRef ref = allocator.superblocks().find(p);
    if (ref.superblock == nullptr || ref.superblock->use != UnitUse::superblock) return true;
    const ClassIndex c = ref.superblock->size_class;
    const Heaps::ClassUse all = allocator.heaps().class_use(c);
    out->superblock_blocks = shape_of(c).blocks;
    out->superblock_used = rest(shape_of(c).blocks, ref.superblock->free_count);
    out->class_blocks = all.blocks;
    out->class_used = rest(all.blocks, all.free);
    out->move_helps = move_helps(*out) ? 1 : 0;
    return true;
}

}  // namespace gr
