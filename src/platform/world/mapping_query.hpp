// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the kernel's PROCMAP_QUERY: what is mapped at one address.
// Invariant: one call asks about one address; takes no memory.
// Must not know: why it is asked; what lies beside the mapping.
#pragma once

#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "platform/syscall.hpp"

namespace gr::platform {

// struct procmap_query: newer than the headers of the oldest system that builds this (Linux 6.11).
struct MappingQuery {
    static constexpr std::uint64_t kReadable = 1;  // PROCMAP_QUERY_VMA_READABLE
    static constexpr std::uint64_t kWritable = 2;  // PROCMAP_QUERY_VMA_WRITABLE
    static constexpr std::uint64_t kShared = 8;    // PROCMAP_QUERY_VMA_SHARED
    static constexpr long kNothingThere = -ENOENT;

    std::uint64_t size = sizeof(MappingQuery);
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t rights = 0;
    std::uint64_t page_size = 0;
    std::uint64_t offset = 0;
    std::uint64_t inode = 0;
    std::uint32_t device_major = 0;
    std::uint32_t device_minor = 0;
    std::uint32_t name_size = 0;
    std::uint32_t build_id_size = 0;
    std::uint64_t name = 0;
    std::uint64_t build_id = 0;

    // `maps` is the descriptor of a list of mappings. Returns 0, kNothingThere, or another negative number: refused.
    long run(long maps, const void *at) {
        address = reinterpret_cast<std::uintptr_t>(at);
        constexpr unsigned long kQuery = _IOWR('f', 17, MappingQuery);  // PROCMAP_QUERY
        return system_call(SYS_ioctl, maps, std::size_t{kQuery}, this);
    }
};

}  // namespace gr::platform
