// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/earlier_memory.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/failure.hpp"

namespace gr::tool {

namespace {

bool is_plain(const SmapsEntry &mapping) {
    return mapping.is_writable && !mapping.is_shared && (mapping.name.empty() || mapping.name.starts_with("[anon"));
}

// glibc's malloc has heaps for other threads than the first. A heap is the part in use, and addresses into which that grows.
bool is_heap_of_threads(const SmapsEntry &mapping, const SmapsEntry &behind) {
    constexpr std::uint64_t kHeapBytes = 64 << 20;
    return mapping.begin % kHeapBytes == 0 && behind.begin == mapping.end && !behind.is_writable &&
           behind.end == mapping.begin + kHeapBytes;
}

// glibc's malloc maps each large block by itself, behind two words: zero, and the size with a mark.
std::uint64_t end_of_large_blocks(const ProcessMemory &memory, const SmapsEntry &mapping) {
    constexpr std::uint64_t kMarks = 7;
    constexpr std::uint64_t kMapped = 2;
    std::uint64_t at = mapping.begin;
    std::array<std::uint64_t, 2> words{};
    while (at < mapping.end && memory.read_touched(at, words.data(), sizeof words)) {
        const std::uint64_t bytes = words[1] & ~kMarks;
        if (words[0] != 0 || (words[1] & kMarks) != kMapped || bytes == 0 || bytes % ProcessMemory::page_bytes() != 0 ||
            bytes > mapping.end - at)
            break;
        at += bytes;
    }
    return at;
}

}  // namespace

EarlierMemory::EarlierMemory(std::uint32_t process) {
    try {
        const ProcessMemory memory(static_cast<int>(process));
        const std::vector<SmapsEntry> mappings = addresses_of(process);
        find_parts(memory, mappings);
    } catch (const Failure &) {
        return;  // the process is gone
    }
}

void EarlierMemory::find_parts(const ProcessMemory &memory, const std::vector<SmapsEntry> &mappings) {
    std::set<std::string_view> modules;
    for (const SmapsEntry &mapping : mappings) {
        if (mapping.is_executable) modules.insert(mapping.name);
    }
    SmapsEntry before;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
        const SmapsEntry &mapping = mappings[i];
        // The variables that begin as zeros.
        const bool is_modules = before.is_writable && before.end == mapping.begin && before.name.starts_with('/') &&
                                modules.contains(before.name);
        before = mapping;
        if (!is_plain(mapping) || (is_modules && mapping.name.empty())) continue;
        const bool is_heap = i + 1 < mappings.size() && is_heap_of_threads(mapping, mappings[i + 1]);
        const std::uint64_t end = is_heap ? mappings[i + 1].end : end_of_large_blocks(memory, mapping);
        if (end > mapping.begin) parts_.push_back({mapping.begin, end, true});
        if (end < mapping.end) parts_.push_back({end, mapping.end, false});
    }
}

}  // namespace gr::tool
