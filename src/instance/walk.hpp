// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a walk over the blocks in use of an instance, while other threads allocate and free.
// Invariant: a block that is in use from the walk's beginning to its end is visited once, and a block that is free all
//    that time is never visited. The bits of a part of the region are copied while all locks are held, and the
//    magazines are read while no sequence runs. No lock is held while a block is visited.
// Must not know: who walks, and what for.
#pragma once

#include "instance/instance.hpp"

namespace gr {

class Walk {
  public:
    using Call = int (*)(void *context, void *block, std::size_t usable_size);

    Walk(Call call, void *context) : call_(call), context_(context) {}

    // Visits each block in use of the instance, until the call returns something other than 0. May be called for one
    // instance after the other; once the walk has ended it does nothing.
    [[gnu::cold]] void visit(Instance &walked);

    // An errno, or 0.
    int error() const { return error_; }
    // What the call returned last.
    int said() const { return said_; }

  private:
    struct Copy;

    bool is_over() const { return error_ != 0 || said_ != 0; }
    void visit_region(Instance &walked, UnitIndex end);
    static bool copy_part(Instance &walked, UnitIndex from, UnitIndex to, Copy *copy);
    void visit_copied(const Instance &walked, const Copy &copy);
    bool visit_block(void *block, std::size_t bytes) {
        said_ = call_(context_, block, bytes);
        return said_ == 0;
    }

    Call call_;
    void *context_;
    int said_ = 0;
    int error_ = 0;
};

}  // namespace gr
