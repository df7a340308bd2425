// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/disclaim.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "libgc/kinds.hpp"

namespace gr {
namespace {

struct Disclaim {
    DisclaimProcedure procedure = nullptr;  // nullptr: none
    bool whole = false;
};
constinit std::array<Disclaim, kMostKinds> disclaims{};

struct Dead {
    void *object;
    Mark *mark;
    std::size_t bytes;
};
constinit platform::MappedList<Dead> dead;                     // of this collection, one kind after the other
constinit std::array<std::size_t, kMostKinds> end_of_kind{};  // in the list

// Not the dead themselves: one that another refers to lives until that one is gone.
void mark_from_dead_of(Kind &kind) {
    collector.for_each_block(kind, [&](const BlockAt &block, bool marked) {
        if (marked) return;
        const Target t{.begin = static_cast<const char *>(block.begin), .bytes = block.bytes, .kind = kind.number};
        Marker::current()->scan(Task{t.begin, collector.field().descriptor_of(t)});
    });
    Marker::current()->drain();
}

// They live until they are asked, and where there is no memory for the list, until there is.
void list_dead_of(Kind &kind) {
    collector.for_each_block(kind, [](const BlockAt &block, bool marked) {
        if (marked) return;
        static_cast<void>(dead.add({block.begin, block.mark, block.bytes}));
        collector.set_mark(*block.mark, true);
    });
}

// Blocks of one kind that agreed to go.
class Going {
  public:
    explicit Going(Kind &kind) : kind_(kind) {}
    ~Going() { free(); }
    Going(const Going &) = delete;
    Going &operator=(const Going &) = delete;

    void add(const Dead &one) {
        if (kind_.setup.asks_blocks()) std::memset(one.object, 0, one.bytes);
        if (one.bytes > kClassLimit) return Collector::free(kind_, one.object);
        if (count_ == kMost) free();
        blocks_[count_++] = one.object;
    }

  private:
    static constexpr std::size_t kMost = 256;

    void free() {
        Collector::free_each(kind_, {&blocks_[0], count_});
        count_ = 0;
    }

    Kind &kind_;
    std::size_t count_ = 0;
    void *blocks_[kMost];
};

void ask(Kind &kind, std::span<const Dead> of_kind) {
    Going going(kind);
    for (const Dead &one : of_kind) {
        if (collector.is_marked(one.mark)) continue;  // by a procedure, for it is to live
        if (disclaims[kind.number].procedure(one.object) == 0) {
            going.add(one);
        } else {
            collector.set_mark(*one.mark, true);
        }
    }
}

}  // namespace

void set_disclaim(unsigned kind, DisclaimProcedure disclaim, bool whole) {
    disclaims[kind] = {disclaim, whole};
    collector.tell_dead(kind);
}

bool has_disclaims() {
    return std::ranges::any_of(disclaims, [](const Disclaim &disclaim) { return disclaim.procedure != nullptr; });
}

void keep_disclaimed() {
    dead.clear();
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        if (disclaims[i].whole) mark_from_dead_of(*collector.kind(i));
    }
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        if (disclaims[i].procedure != nullptr) list_dead_of(*collector.kind(i));
        end_of_kind[i] = dead.size();
    }
}

void disclaim_dead() {
    for (const Dead &one : dead.all()) collector.set_mark(*one.mark, false);
    std::size_t asked = 0;
    for (std::uint32_t i = 0; asked != dead.size(); ++i) {
        ask(*collector.kind(i), dead.all().subspan(asked, end_of_kind[i] - asked));
        asked = end_of_kind[i];
    }
    dead.clear();
}

}  // namespace gr
