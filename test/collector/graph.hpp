// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a small heap of objects of words and a marking of it, in the place of the collector's.
// Invariant: nothing is marked but by begin() and what is asked for; what was swept is no object any more.
// Must not know: why an object is marked.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "collector/marking.hpp"

namespace gr::fake {

enum class Words : std::uint8_t { pointers, none };

class Graph {
  public:
    void **make(std::size_t size = 4, Words words = Words::pointers) {
        auto memory = std::make_unique<void *[]>(size);
        void **const object = memory.get();
        objects_.emplace(address(object), Object{std::move(memory), size, words});
        return object;
    }
    // From now on a root, or no more.
    void hold(void **object) { held_.push_back(object); }
    void let_go(void **object) { std::erase(held_, object); }
    // As the program does; its memory stays.
    void free(void **object) {
        freed_.insert_or_assign(address(object), std::move(objects_.at(address(object))));
        objects_.erase(address(object));
    }
    bool is_object(const void *p) const { return objects_.count(address(p)) != 0; }

    // Marks what is held, and nothing else.
    void begin() {
        for (auto &[base, object] : objects_) object.marked = false;
        for (void **const object : held_) mark(object);
    }
    void sweep() {
        std::erase_if(objects_, [](const auto &entry) { return !entry.second.marked; });
    }
    void mark_what(const void *pointer) {
        if (const void *const base = base_of(pointer)) mark(base);
    }

    bool is_marked(const void *object) const { return objects_.at(address(object)).marked; }
    const void *base_of(const void *p) const { return base_among(objects_, p); }
    bool is_lost(const void *p) const {
        const void *const base = base_of(p);
        return base != nullptr ? !is_marked(base) : base_among(freed_, p) != nullptr;
    }
    platform::Range contents_of(const void *p) const {
        const Object &object = objects_.at(address(p));
        const auto *const begin = static_cast<const char *>(p);
        return {begin, begin + (object.words == Words::pointers ? object.size * sizeof(void *) : 0)};
    }
    void mark(const void *p) {
        Object &object = objects_.at(address(p));
        if (object.marked) return;
        object.marked = true;
        if (observer_.tell != nullptr) observer_.tell(observer_.context, p);
        mark_from(p);
    }
    template <class Name>
    void mark_each(Name name) {
        name([this](const void *p) { mark(p); });
    }
    void mark_from(const void *p) { mark_range(contents_of(p)); }
    void mark_range(platform::Range range) {
        if (range.bytes() % sizeof(void *) != 0) throw std::logic_error("a part of a word");
        for (const char *at = range.begin; at != range.end; at += sizeof(void *)) {
            const void *word = nullptr;
            std::memcpy(&word, at, sizeof word);
            mark_what(word);
        }
    }

    void observe(MarkObserver observer) { observer_ = observer; }
    bool failed() const { return fails_; }
    // As if memory had run out.
    void fail() { fails_ = true; }

  private:
    struct Object {
        std::unique_ptr<void *[]> memory;
        std::size_t size;
        Words words;
        bool marked = false;
    };
    using Objects = std::map<std::uintptr_t, Object>;
    static std::uintptr_t address(const void *p) { return reinterpret_cast<std::uintptr_t>(p); }
    static const void *base_among(const Objects &objects, const void *p) {
        auto after = objects.upper_bound(address(p));
        if (after == objects.begin()) return nullptr;
        const Object &object = std::prev(after)->second;
        const void *const *const words = object.memory.get();
        return address(p) < address(words + object.size) ? static_cast<const void *>(words) : nullptr;
    }

    Objects objects_;
    Objects freed_;
    std::vector<void **> held_;
    MarkObserver observer_;
    bool fails_ = false;
};

static_assert(ObservableMarking<Graph>);

}  // namespace gr::fake
