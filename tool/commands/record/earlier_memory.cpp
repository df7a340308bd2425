// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/earlier_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <string_view>

#include "base/failure.hpp"
#include "base/file_text.hpp"
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

// The stack pointer of a thread that waits in the kernel; 0: the thread runs.
std::uint64_t stack_pointer_of(std::uint32_t process, int thread) {
    std::string text = file_text(fmt::format("/proc/{}/task/{}/syscall", process, thread));
    // The last two words are the stack pointer and the place in the code.
    const std::size_t code = text.rfind(" 0x");
    const std::size_t stack = code == 0 || code == std::string::npos ? code : text.rfind(" 0x", code - 1);
    if (stack == std::string::npos) return 0;
    std::uint64_t address = 0;
    constexpr std::size_t kBefore = 3;
    constexpr int kHexadecimal = 16;
    std::from_chars(text.data() + stack + kBefore, text.data() + code, address, kHexadecimal);
    return address;
}

// The description of a thread, on x86-64, begins with its own address, a word, and the address again. 0: there is none.
std::uint64_t thread_pointer_above(const ProcessMemory &memory, std::uint64_t place, std::uint64_t end) {
    constexpr std::uint64_t kAlignment = 16;
    constexpr std::size_t kWords = 512;
    constexpr std::size_t kHeadWords = 3;
    constexpr std::uint64_t kMostBytes = 64 << 20;
    end = std::min(end, place + kMostBytes);
    std::array<std::uint64_t, kWords + kHeadWords> words{};
    for (std::uint64_t at = place / kAlignment * kAlignment; at < end; at += kWords * sizeof words[0]) {
        const std::uint64_t bytes = std::min<std::uint64_t>(sizeof words, end - at);
        if (!memory.read_touched(at, words.data(), bytes)) return 0;
        for (std::size_t i = 0; (i + kHeadWords) * sizeof words[0] <= bytes; i += kAlignment / sizeof words[0]) {
            const std::uint64_t address = at + i * sizeof words[0];
            if (words[i] == address && words[i + 2] == address) return address;
        }
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

void EarlierMemory::find_threads(const ProcessMemory &memory, const std::vector<SmapsEntry> &mappings) {
    const auto process = static_cast<std::uint32_t>(memory.process());
    for (const int thread : threads_of(process)) {
        const std::uint64_t place = stack_pointer_of(process, thread);
        const auto mapping = std::ranges::upper_bound(mappings, place, {}, &SmapsEntry::end);
        if (mapping == mappings.end() || place < mapping->begin || !is_plain(*mapping)) continue;
        if (const std::uint64_t pointer = thread_pointer_above(memory, place, mapping->end); pointer != 0)
            threads_.push_back({thread, pointer, place});
    }
}

}  // namespace gr::tool
