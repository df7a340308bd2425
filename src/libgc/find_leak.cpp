// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/find_leak.hpp"

#include <stdlib.h>

#include "libgc/debug_header.hpp"
#include "libgc/messages.hpp"
#include "libgc/standard_kinds.hpp"

namespace gr {
namespace {

constexpr std::size_t kMostListed = 40;  // objects, by one collection; as bdwgc

constinit bool are_looked_for = false;

void list(const BlockAt &block) {
    TextBuffer<512> line;
    const bool is_atomic = block.kind->setup.descriptor.is_nothing() && !block.kind->setup.adds_size;
    line << "leaked" << (is_atomic ? " pointer-free" : "") << " object at ";
    if (const DebugHeader *const header = DebugHeader::of(block)) {
        line << static_cast<const void *>(DebugHeader::user_data(block.begin)) << ", " << header->size
             << " bytes, allocated at " << header->file << ':' << header->line << '\n';
    } else {
        line << static_cast<const void *>(block.begin) << ", about " << block.bytes << " bytes\n";
    }
    write_line(messages.errors, line);
}

// Lists the first leaked objects that a collection finds, and counts the others.
class Leaked {
  public:
    void add(const BlockAt &block) {
        if (listed_ < kMostListed) {
            ++listed_;
            return list(block);
        }
        ++others_;
        bytes_of_others_ += block.bytes;
    }
    void report_others() const {
        if (others_ == 0) return;
        TextBuffer<256> line;
        line << "leaked objects that are not listed: " << others_ << ", about " << bytes_of_others_
             << " bytes; each collection lists " << kMostListed << '\n';
        write_line(messages.errors, line);
    }

  private:
    std::size_t listed_ = 0;
    std::size_t others_ = 0;
    std::size_t bytes_of_others_ = 0;
};

}  // namespace

void begin_to_look_for_leaks() {
    are_looked_for = true;
    collector.tell_dead(kAtomic);
    collector.tell_dead(kNormal);
}

void report_leaks() {
    if (!are_looked_for) return;
    bool any = false;
    Leaked leaked;
    for (const unsigned kind : {kAtomic, kNormal}) {
        collector.for_each_block(*collector.kind(kind), [&](const BlockAt &block, bool marked) {
            if (marked) return;
            any = true;
            const DebugHeader *const header = DebugHeader::of(block);
            if (header == nullptr || !header->is_freed(block.begin)) leaked.add(block);
        });
    }
    leaked.report_others();
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs
    if (any && getenv("GC_ABORT_ON_LEAK") != nullptr) die("leaked objects were found, and GC_ABORT_ON_LEAK is set");
}

}  // namespace gr
