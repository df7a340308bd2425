// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: toggle references: before each collection the program says anew which of these objects are kept.
// Invariant: a strong reference keeps its object. A weak reference is forgotten with its object. The caller holds the
//    collector's lock.
// Must not know: why the program wants an object kept.
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

    // false: no memory. An object may be added several times.
    [[nodiscard]] bool add(const void *object, ToggleStatus status) {
        return references_.add({Hidden(object), status});
    }
    std::size_t size() const { return references_.size(); }
    platform::Growing memory() const { return references_.memory(); }

    // ask(object) says what the reference is from now on. Before the stop. ask() may not call this object.
    template <class Ask>
    void ask_about_each(Ask ask) {
        remove_if([&](Reference &reference) {
            reference.status = ask(reference.object.reveal());
            return reference.status == ToggleStatus::drop;
        });
    }
    // Calls visit(pointer) for each object that is kept, with the other roots.
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

    // Goes from the end, because the last reference moves to where one is removed.
    template <class Test>
    void remove_if(Test test) {
        for (std::size_t i = references_.size(); i-- != 0;) {
            if (test(references_[i])) references_.remove(i);
        }
    }

    platform::MappedList<Reference> references_;
};

}  // namespace gr
