// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: toggle references: objects that are kept or not as the program says anew before each collection.
// Invariant: only strong ones are kept; a weak one is forgotten with its object. The caller holds the lock of the
//    collector.
// Must not know: why the program wants one kept.
#pragma once

#include <cstdint>

#include "collector/address_table.hpp"
#include "collector/marking.hpp"
#include "platform/world/mapped_list.hpp"

namespace gr {

// The numbers are those of gc.h.
enum class ToggleStatus : std::uint8_t { drop = 0, strong = 1, weak = 2 };

class ToggleReferences {
  public:
    constexpr ToggleReferences() = default;

    // false: no memory. As often as it is added it is there.
    [[nodiscard]] bool add(const void *object, ToggleStatus status) {
        return references_.add({Hidden(object), status});
    }
    std::size_t size() const { return references_.size(); }
    platform::Growing memory() const { return references_.memory(); }

    // ask(object) says what it is from now on. Before the world is stopped; it may not come back here.
    template <class Ask>
    void ask_about_each(Ask ask) {
        remove_if([&](Reference &reference) {
            reference.status = ask(reference.object.reveal());
            return reference.status == ToggleStatus::drop;
        });
    }
    // visit(pointer), before anything is asked of the marks.
    template <class Visit>
    void for_each_root(Visit visit) const {
        for (const Reference &reference : references_.all()) {
            if (reference.status == ToggleStatus::strong) visit(static_cast<const void *>(reference.object.reveal()));
        }
    }
    template <Marking M>
    void forget_dead(const M &marking) {
        remove_if([&](const Reference &reference) { return !marking.is_marked(reference.object.reveal()); });
    }

  private:
    struct Reference {
        Hidden object;
        ToggleStatus status;
    };

    // From the end: the last one takes the place of what is removed.
    template <class Test>
    void remove_if(Test test) {
        for (std::size_t i = references_.size(); i-- != 0;) {
            if (test(references_[i])) references_.remove(i);
        }
    }

    platform::MappedList<Reference> references_;
};

}  // namespace gr
