// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the JSON text of places, containers and blocks.
// Invariant: an item's text depends on nothing but the item, so that an item is written again only when it changed.
// Must not know: any allocator; calls and events.
#include "show/picture_writer.hpp"

namespace gr::lab::show {
namespace {

constexpr const char *kPlaceKinds[] = {"heap", "global", "group", "bin", "buffer", "remote", "online", "arena", "list"};
constexpr const char *kContainerKinds[] = {"superblock", "container", "run", "chunk", "page", "buffer"};
constexpr const char *kStates[] = {"used", "free", "remote", "buffered"};

}  // namespace

std::string_view PictureWriter::id_of(const NamedLock &lock, Words &words) const {
    if (!lock.is_container) return id_of_place(lock.at);
    words = container_id(picture_.containers_[lock.at].number);
    return words.view();
}

void PictureWriter::describe(Item &item, const Number *numbers, std::uint32_t count) {
    item << ",\"numbers\":{";
    for (std::uint32_t i = 0; i < count; ++i) {
        item << (i == 0 ? "" : ",");
        quote(item, numbers[i].name);
        item << ':' << numbers[i].value;
    }
    item << '}';
}

void PictureWriter::describe(Item &item, const Place &place, const Known &known) const {
    item << "{\"parent\":";
    quote_place(item, place.parent);
    item << ",\"kind\":\"" << kPlaceKinds[static_cast<unsigned>(place.kind)] << "\",\"label\":";
    quote(item, place.label.view());
    if (known.thread != 0) item << ",\"thread\":" << known.thread;
    if (place.count != 0) describe(item, &place.numbers[0], place.count);
    item << '}';
}

void PictureWriter::describe(Item &item, const DrawnContainer &container, const Known &) const {
    item << "{\"place\":";
    quote_place(item, container.place);
    item << ",\"label\":\"s" << container.number + 1 << "\",\"block\":" << container.block_bytes
         << ",\"blocks\":" << container.blocks << ",\"bytes\":" << container.bytes << ",\"kind\":\""
         << kContainerKinds[static_cast<unsigned>(container.kind)] << '"';
    if (container.inside != Picture::kNone) {
        item << ",\"inside\":";
        quote(item, container_id(picture_.containers_[container.inside].number).view());
    }
    const Number used{"used", container.used};
    describe(item, &used, 1);
    item << '}';
}

void PictureWriter::describe(Item &item, const DrawnBlock &block, const Known &known) const {
    item << "{\"container\":";
    quote(item, container_id(picture_.containers_[block.container].number).view());
    item << (block.is_range ? ",\"offset\":" : ",\"index\":") << block.at << ",\"bytes\":" << block.bytes
         << ",\"state\":\"" << kStates[static_cast<unsigned>(block.state)] << '"';
    if (block.state == Shown::used && known.thread != 0) {
        item << ",\"thread\":" << known.thread;
        if (const Words &name = picture_.block_names_[block.number]; !name.view().empty()) {
            item << ",\"name\":";
            quote(item, name.view());
        }
    }
    item << ",\"place\":";
    quote_place(item, block.place);
    item << '}';
}

void PictureWriter::write_if_other(Known &known, std::string_view id, const Item &item) {
    const std::string_view text(item.data(), item.size());
    const std::uint64_t hash = hash_of(text);
    if (hash == known.written) return;
    known.written = hash;
    if (!is_first_) out_ << ',';
    is_first_ = false;
    quote(out_, id);
    out_ << ':' << text;
}

void PictureWriter::write_all(auto &known, auto id, auto describe_item) {
    is_first_ = true;
    for (std::uint32_t number = 0; number < known.count(); ++number) {
        Known &each = known[number];
        const bool is_there = each.picture == picture_.picture_;
        if (!is_there && each.written == 0) continue;
        if (is_there) {
            Item item;
            describe_item(item, each);
            write_if_other(each, id(number).view(), item);
        } else {
            each.written = 0;
            if (!is_first_) out_ << ',';
            is_first_ = false;
            quote(out_, id(number).view());
            out_ << ":null";
        }
    }
}

void PictureWriter::write() {
    for (std::uint32_t i = 0; i < picture_.block_count_; ++i)
        if (picture_.blocks_[i].state == Shown::used) ++picture_.containers_[picture_.blocks_[i].container].used;
    out_ << ",\"places\":{";
    write_all(
        picture_.known_places_, [&](std::uint32_t number) { return picture_.place_ids_[number]; },
        [&](Item &item, const Known &known) { describe(item, picture_.places_[known.at], known); });
    out_ << "},\"containers\":{";
    write_all(picture_.known_containers_, container_id,
              [&](Item &item, const Known &known) { describe(item, picture_.containers_[known.at], known); });
    out_ << "},\"blocks\":{";
    write_all(picture_.known_blocks_, block_id,
              [&](Item &item, const Known &known) { describe(item, picture_.blocks_[known.at], known); });
    out_ << '}';
}

}  // namespace gr::lab::show
