// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what an allocator holds at one moment: places, the containers that stand in them, and the blocks of containers.
//    An allocator fills it by draw(picture).
// Invariant: a block lies in one container and in one list at most: a second one ends the program. A list has only
//    blocks that were drawn before.
// Must not know: any allocator, and how a picture is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "parts/contract/shown.hpp"
#include "show/known_ids.hpp"

namespace gr::lab::show {

// A short text, which is cut where it is too long.
class Words {
  public:
    Words() = default;
    explicit Words(const auto &...parts) {
        Text text(&text_[0], sizeof text_);
        (void)(text << ... << parts);
        size_ = static_cast<std::uint8_t>(text.size());
    }
    std::string_view view() const { return {&text_[0], size_}; }

  private:
    char text_[63];
    std::uint8_t size_ = 0;
};

struct Number {
    const char *name;
    std::size_t value;
};

struct Place {
    std::uint32_t number;  // among the known
    std::uint32_t parent;  // as `at`; kNone: none
    PlaceKind kind;
    Words label;
    std::uint32_t count;
    Number numbers[4];
};

struct DrawnContainer {
    std::uint32_t number;
    std::uint32_t place;  // kNone: none yet
    ContainerKind kind;
    const char *begin;
    std::size_t block_bytes;
    std::size_t blocks;
    std::size_t bytes;
    std::size_t used;
    std::uint32_t inside;  // another container; kNone: none
};

struct DrawnBlock {
    std::uint32_t number;
    std::uint32_t container;
    std::uint32_t place;  // kNone: in no list but the container's own
    Shown state;
    bool is_range;  // `at` is in bytes
    std::size_t at;
    std::size_t bytes;
};

struct NamedLock {
    const void *lock;
    std::uint32_t at;  // of a place, or of a container
    bool is_container;
};

struct Piece {
    const void *begin;
    std::size_t bytes;
    bool is_alone;
};

class Picture {
  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr std::uint32_t kMostPlaces = 1U << 13;
    static constexpr std::uint32_t kMostContainers = 1U << 13;
    static constexpr std::uint32_t kMostBlocks = 1U << 17;
    struct In {
        std::uint32_t at;
    };

    // From nothing, by the thread that made the call. pieces: the memory that was cut into blocks.
    void begin(std::uint32_t thread, std::span<const Piece> pieces) {
        ++picture_;
        pieces_ = pieces;
        place_count_ = container_count_ = block_count_ = lock_count_ = 0;
        thread_ = thread;
    }

    static In top() { return {kNone}; }
    static Words words(const auto &...parts) { return Words(parts...); }

    // A place below another one; `id` tells it from the others there.
    In place(In parent, PlaceKind kind, const Words &id, const Words &label) {
        const Words whole =
            parent.at == kNone ? id : Words(place_ids_[places_[parent.at].number].view(), ".", id.view());
        const std::uint32_t number = known_places_.number_of(hash_of(whole.view()));
        Known &known = known_places_[number];
        if (known.picture == picture_) return {known.at};
        place_ids_[number] = whole;
        known.picture = picture_;
        known.at = next(place_count_, kMostPlaces);
        places_[known.at] = {number, parent.at, kind, label, 0, {}};
        return {known.at};
    }
    // A number for what has none of its own: the n-th of all that were asked for.
    std::uint32_t nth(const void *of) { return known_owners_.number_of(reinterpret_cast<std::uintptr_t>(of)) + 1; }
    void number(In place, const char *name, std::size_t value) {
        Place &to = places_[place.at];
        if (to.count == std::size(to.numbers)) die_of("a place has too many numbers");
        to.numbers[to.count++] = {name, value};
    }
    // The place is the calling thread's.
    void is_callers(In place) { known_places_[places_[place.at].number].thread = thread_; }
    void lock(In place, const void *lock) { locks_[next(lock_count_, kMostLocks)] = {lock, place.at, false}; }
    void lock_of(const void *container, const void *lock) {
        locks_[next(lock_count_, kMostLocks)] = {lock, container_at(container), true};
    }

    void container(const void *begin, ContainerKind kind, std::size_t block_bytes, std::size_t blocks,
                   std::size_t bytes) {
        const std::uint32_t number = known_containers_.number_of(reinterpret_cast<std::uintptr_t>(begin));
        Known &known = known_containers_[number];
        if (known.picture == picture_) die_of("a container is in two places");
        known.picture = picture_;
        known.at = next(container_count_, kMostContainers);
        containers_[known.at] = {number, kNone, kind, static_cast<const char *>(begin), block_bytes, blocks,
                                 bytes,  0,     kNone};
    }
    void stands(const void *container, In place) { containers_[container_at(container)].place = place.at; }
    // A container that was cut from another one.
    void lies_in(const void *container, const void *outer) {
        containers_[container_at(container)].inside = container_at(outer);
    }
    // The container that this address lies in.
    void stands_around(const char *address, In place) {
        for (std::uint32_t i = 0; i < container_count_; ++i) {
            DrawnContainer &each = containers_[i];
            if (address >= each.begin && address < each.begin + each.bytes) each.place = place.at;
        }
    }
    // Whatever stands nowhere yet.
    void others_stand(In place) {
        for (std::uint32_t i = 0; i < container_count_; ++i)
            if (containers_[i].place == kNone) containers_[i].place = place.at;
    }

    // In use, unless a list is found to have it.
    void block(const void *container, std::size_t index, const void *address, std::size_t bytes) {
        add(container, address, index, bytes, false);
    }
    // A block of any length.
    void range(const void *container, const void *address, std::size_t bytes) {
        const auto offset = static_cast<const char *>(address) - static_cast<const char *>(container);
        add(container, address, static_cast<std::size_t>(offset), bytes, true);
    }
    // In a list that is a place.
    void listed(const void *block, In place, Shown state) { put(block, place.at, state); }
    // In a list of the container's own.
    void inside(const void *block, Shown state) { put(block, kNone, state); }

    void for_each_piece(auto visit) const { for_each(false, visit); }
    void for_each_alone(auto visit) const { for_each(true, visit); }

    // By the recorder.
    void thread_ended(std::uint32_t thread) {
        for (std::uint32_t i = 0; i < known_places_.count(); ++i)
            if (known_places_[i].thread == thread) known_places_[i].thread = 0;
    }
    const NamedLock *find(const void *lock) const {
        for (std::uint32_t i = 0; i < lock_count_; ++i)
            if (locks_[i].lock == lock) return &locks_[i];
        return nullptr;
    }

  private:
    friend class PictureWriter;
    static constexpr std::uint32_t kMostLocks = 1U << 15;

    static std::uint32_t next(std::uint32_t &count, std::uint32_t most) {
        if (count == most) die_of("the picture has become too large: show fewer calls");
        return count++;
    }
    std::uint32_t container_at(const void *begin) {
        const Known &known = known_containers_[known_containers_.number_of(reinterpret_cast<std::uintptr_t>(begin))];
        if (known.picture != picture_) die_of("a place has a container that was not drawn");
        return known.at;
    }
    void add(const void *container, const void *address, std::size_t at, std::size_t bytes, bool is_range) {
        const std::uint32_t number = known_blocks_.number_of(reinterpret_cast<std::uintptr_t>(address));
        Known &known = known_blocks_[number];
        if (known.picture == picture_) die_of("a block is in two containers");
        known.picture = picture_;
        known.at = next(block_count_, kMostBlocks);
        blocks_[known.at] = {number, container_at(container), kNone, Shown::used, is_range, at, bytes};
    }
    void put(const void *address, std::uint32_t place, Shown state) {
        const Known &known = known_blocks_[known_blocks_.number_of(reinterpret_cast<std::uintptr_t>(address))];
        if (known.picture != picture_) die_of("a list has a block that lies in no container");
        DrawnBlock &block = blocks_[known.at];
        if (block.state != Shown::used) die_of("a block is in two lists");
        block.state = state;
        block.place = place;
    }
    void for_each(bool is_alone, auto &visit) const {
        for (const Piece &piece : pieces_)
            if (piece.is_alone == is_alone) visit(piece.begin, piece.bytes);
    }

    std::uint32_t picture_;
    std::uint32_t thread_;
    std::uint32_t place_count_;
    std::uint32_t container_count_;
    std::uint32_t block_count_;
    std::uint32_t lock_count_;
    Place places_[kMostPlaces];
    DrawnContainer containers_[kMostContainers];
    DrawnBlock blocks_[kMostBlocks];
    NamedLock locks_[kMostLocks];
    std::span<const Piece> pieces_;
    KnownIds<kMostPlaces> known_places_;
    KnownIds<kMostPlaces> known_owners_;
    KnownIds<kMostContainers> known_containers_;
    KnownIds<kMostBlocks> known_blocks_;
    Words place_ids_[kMostPlaces];
    Words block_names_[kMostBlocks];
};

}  // namespace gr::lab::show
