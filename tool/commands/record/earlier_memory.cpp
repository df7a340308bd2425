// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/earlier_memory.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/failure.hpp"
#include "commands/record/process_files.hpp"

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

// glibc tells the kernel, of each thread, where in the thread's description the list of its robust mutexes lies. 0: there is
// none.
std::uint64_t place_in_description(int thread) {
    void *list = nullptr;
    std::size_t bytes = 0;
    return ::syscall(SYS_get_robust_list, thread, &list, &bytes) == 0 ? reinterpret_cast<std::uint64_t>(list) : 0;
}

// The description of a thread, on x86-64, begins with its own address, a word, and the address again. 0: none is there.
std::uint64_t beginning_of_description(const ProcessMemory &memory, std::uint64_t place) {
    constexpr std::uint64_t kAlignment = 64;
    std::array<std::uint64_t, 3> words{};
    const std::uint64_t last = place / kAlignment * kAlignment;
    for (std::uint64_t at = last; at != 0 && place - at < kThreadBytes; at -= kAlignment) {
        if (!memory.read_touched(at, words.data(), sizeof words)) return 0;
        if (words[0] == at && words[2] == at) return at;
    }
    return 0;
}

}  // namespace

EarlierMemory::EarlierMemory(std::uint32_t process) {
    try {
        const ProcessMemory memory(static_cast<int>(process));
        const std::vector<SmapsEntry> mappings = addresses_of(process);
        find_threads(memory, mappings);
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

// The stack of the first thread is the kernel's, and its description does not lie behind it.
void EarlierMemory::find_threads(const ProcessMemory &memory, const std::vector<SmapsEntry> &mappings) {
    for (const int thread : threads_of(static_cast<std::uint32_t>(memory.process()))) {
        if (thread == memory.process()) continue;
        const std::uint64_t place = place_in_description(thread);
        const auto mapping = std::ranges::upper_bound(mappings, place, {}, &SmapsEntry::end);
        if (mapping == mappings.end() || place < mapping->begin || !is_plain(*mapping)) continue;
        const std::uint64_t pointer = beginning_of_description(memory, place);
        if (pointer > mapping->begin) threads_.push_back({thread, pointer, pointer - 1});
    }
}

}  // namespace gr::tool
