// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes what a picture has otherwise than the one before: places, containers and blocks, each whole; what is gone
//    as null.
// Invariant: what is written once is written again only when it changed.
// Must not know: any allocator; calls and events.
#pragma once

#include "show/output.hpp"
#include "show/picture.hpp"

namespace gr::lab::show {

class PictureWriter {
  public:
    PictureWriter(Picture &picture, Output &out) : picture_(picture), out_(out) {}

    // The containers that stand in another place than in the picture before; as events.
    void write_moves(auto begin_event);
    void write();

    std::string_view id_of(const NamedLock &lock, Words &words) const;
    std::uint32_t number_of_block(const void *block) const {
        return picture_.known_blocks_.number_of(reinterpret_cast<std::uintptr_t>(block));
    }
    void give(const void *block, std::uint32_t thread) const {
        const std::uint32_t number = number_of_block(block);
        picture_.known_blocks_[number].thread = thread;
        picture_.block_names_[number] = Words();
    }
    void name(const void *block, std::string_view name) const {
        picture_.block_names_[number_of_block(block)] = Words(name);
    }

  private:
    using Item = TextBuffer<1024>;

    std::string_view id_of_place(std::uint32_t at) const {
        return picture_.place_ids_[picture_.places_[at].number].view();
    }
    void quote_place(auto &out, std::uint32_t at) const {
        if (at == Picture::kNone) {
            out << "null";
        } else {
            quote(out, id_of_place(at));
        }
    }
    static Words container_id(std::uint32_t number) { return Words("s.", number + 1); }
    static Words block_id(std::uint32_t number) { return Words("b.", number + 1); }

    void write_if_other(Known &known, std::string_view id, const Item &item);
    void write_all(auto &known, auto id, auto item);
    void describe(Item &item, const Place &place, const Known &known) const;
    void describe(Item &item, const DrawnContainer &container, const Known &known) const;
    void describe(Item &item, const DrawnBlock &block, const Known &known) const;
    static void describe(Item &item, const Number *numbers, std::uint32_t count);

    Picture &picture_;
    Output &out_;
    bool is_first_ = true;
};

inline void PictureWriter::write_moves(auto begin_event) {
    for (std::uint32_t i = 0; i < picture_.container_count_; ++i) {
        const DrawnContainer &container = picture_.containers_[i];
        Known &known = picture_.known_containers_[container.number];
        const std::uint32_t now = container.place == Picture::kNone ? 0 : picture_.places_[container.place].number + 1;
        const std::uint32_t before = known.is_in;
        known.is_in = now;
        if (known.written == 0 || before == now || before == 0 || now == 0) continue;
        begin_event("move");
        out_ << ",\"what\":";
        quote(out_, container_id(container.number).view());
        out_ << ",\"from\":";
        quote(out_, picture_.place_ids_[before - 1].view());
        out_ << ",\"to\":";
        quote(out_, picture_.place_ids_[now - 1].view());
        out_ << '}';
    }
}

}  // namespace gr::lab::show
