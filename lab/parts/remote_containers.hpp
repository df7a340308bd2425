// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: containers with a remote list in their headers (Wasik 3.2.4.3): who frees needs not know whose the container is,
//       and waits for no one but those who free there, too.
// Invariant: the list lies behind the header, before the first block. A block in it counts as used.
// Must not know: who clears the list.
#pragma once

#include <new>

#include "parts/container_sizes.hpp"
#include "parts/remote_list.hpp"

namespace gr::lab {

template <ContainerSizes Sizes, RemoteListLike List>
class RemoteContainers : public Sizes {
    static constexpr std::size_t kListBytes = align_up(sizeof(List), kCacheLineBytes);

  public:
    static constexpr std::size_t kLargestBlock = align_down(Sizes::kLargestBlock - kListBytes / 2, kAlignment);

    static List &remote_list_of(Container *container) { return *reinterpret_cast<List *>(container + 1); }

    Container *make(unsigned shape) {
        Container *const container = Sizes::make(shape);
        if (container == nullptr) return nullptr;
        new (container->first_block) List();
        container->first_block += kListBytes;
        container->place_bytes -= kListBytes;
        return container;
    }
};

}  // namespace gr::lab
