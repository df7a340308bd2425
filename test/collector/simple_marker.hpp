// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a marker as simple as can be, by one thread, to say what the collector's own must have reached.
// Invariant: what it has reached it has scanned, or will by drain(); it takes memory from the kernel only, so that it
//    may run while the world stands.
// Must not know: marks; in which order the collector goes; where roots come from.
#pragma once

#include <cstring>

#include "collector/address_table.hpp"
#include "collector/field.hpp"
#include "platform/world/mapped_list.hpp"

namespace gr::fake {

class SimpleMarker {
  public:
    // What procedures are to find in a block: one word.
    using WordOf = std::uintptr_t (*)(const std::uintptr_t *block, std::uintptr_t environment);

    SimpleMarker(const Field &field, WordOf word_of) : field_(field), word_of_(word_of) {}
    ~SimpleMarker() {
        reached_.release();
        work_.release();
    }
    SimpleMarker(const SimpleMarker &) = delete;
    SimpleMarker &operator=(const SimpleMarker &) = delete;

    void scan(platform::Range range) { scan(range, field_.accepts()); }
    void scan_stack(platform::Range range) { scan(range, nullptr); }
    void consider(const void *p) { consider(reinterpret_cast<std::uintptr_t>(p), field_.accepts()); }
    void drain() {
        while (!work_.is_empty()) {
            const Target t = work_.take_last();
            scan(t.begin, field_.descriptor_of(t));
        }
    }

    bool has_reached(const void *block) { return reached_.find(block) != nullptr; }
    std::size_t count() const { return reached_.size(); }
    // It got no memory: it does not know.
    bool failed() const { return failed_; }

  private:
    struct Nothing {};

    static std::uintptr_t word_at(const char *at) {
        std::uintptr_t word = 0;
        std::memcpy(&word, at, sizeof word);
        return word;
    }
    void scan(platform::Range range, Field::Accepts accepts) {
        const auto begin = reinterpret_cast<std::uintptr_t>(range.begin);
        const auto end = reinterpret_cast<std::uintptr_t>(range.end);
        for (std::uintptr_t at = begin; at < end; ++at) {
            if (at % sizeof(void *) == 0 && end - at >= sizeof(void *))
                consider(word_at(reinterpret_cast<const char *>(at)), accepts);
        }
    }
    void scan(const char *block, Descriptor descriptor) {
        switch (descriptor.form()) {
            case Descriptor::Form::length:
                return scan({block, block + descriptor.length()});
            case Descriptor::Form::bitmap:
                for (unsigned bit = 0; bit < kWordBits; ++bit) {
                    if ((descriptor.bitmap() >> (kWordBits - 1 - bit) & 1) != 0)
                        consider(word_at(block + bit * sizeof(void *)), field_.accepts());
                }
                return;
            case Descriptor::Form::procedure:
                return consider(word_of_(reinterpret_cast<const std::uintptr_t *>(block), descriptor.environment()),
                                field_.accepts());
            case Descriptor::Form::per_object:
                return scan(block, Descriptor(word_at(block + descriptor.displacement())));
        }
    }
    void consider(std::uintptr_t word, Field::Accepts accepts) {
        const Target t = field_.target(word);
        if (t.begin == nullptr) return;
        if (accepts != nullptr && !accepts(word - reinterpret_cast<std::uintptr_t>(t.begin))) return;
        if (!has_reached(t.begin) && !(reached_.add(t.begin, {}) && work_.add(t))) failed_ = true;
    }

    const Field &field_;
    WordOf word_of_;
    AddressTable<Nothing> reached_;  // by the beginning of the block
    platform::MappedList<Target> work_;
    bool failed_ = false;
};

}  // namespace gr::fake
