// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/described_threads.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "base/failure.hpp"
#include "commands/record/process_files.hpp"
#include "commands/record/process_mappings.hpp"
#include "reading/process/process_memory.hpp"

namespace gr::tool {

namespace {

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

// The stack of the first thread is the kernel's, and its description does not lie behind it.
std::vector<DescribedThreads::Stack> DescribedThreads::find(std::uint32_t process) {
    std::vector<Stack> stacks;
    try {
        const ProcessMemory memory(static_cast<int>(process));
        for (const int thread : threads_of(process)) {
            if (thread == memory.process() || found_.contains(thread)) continue;
            const std::uint64_t pointer = beginning_of_description(memory, place_in_description(thread));
            if (pointer != 0) stacks.push_back(found_[thread] = {pointer, pointer - 1});
        }
    } catch (const Failure &) {
        return stacks;  // the process is gone
    }
    return stacks;
}

std::vector<DescribedThreads::Stack> DescribedThreads::forget_ended(std::uint32_t process) {
    std::vector<Stack> ended;
    std::erase_if(found_, [&](const auto &each) {
        if (::access(fmt::format("/proc/{}/task/{}", process, each.first).c_str(), F_OK) == 0) return false;
        ended.push_back(each.second);
        return true;
    });
    return ended;
}

}  // namespace gr::tool
