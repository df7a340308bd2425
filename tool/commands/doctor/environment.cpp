// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/doctor/environment.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

// The fields of the kernel's struct rseq that matter here, and the sizes libcs announce for it.
constexpr std::ptrdiff_t kCpuIdOffset = 4;
constexpr unsigned kSizeUpToNode = 20;             // the original fields
constexpr unsigned kSizeWithCid = 28;              // mm_cid included
constexpr unsigned kSizeOriginalArea = 32;         // what glibc before 2.40 announces though it registers the same
constexpr unsigned long kAuxRseqFeatureSize = 27;  // AT_RSEQ_FEATURE_SIZE, newer than Debian 12's headers

struct Rseq {
    std::optional<unsigned> size;  // as libc announces it; nothing: libc knows no rseq
    bool registered = false;
    [[nodiscard]] bool usable() const { return registered && size >= kSizeUpToNode; }
};

Rseq rseq_here() {
    Rseq result;
    const auto *size = static_cast<const unsigned *>(::dlsym(RTLD_DEFAULT, "__rseq_size"));
    const auto *offset = static_cast<const std::ptrdiff_t *>(::dlsym(RTLD_DEFAULT, "__rseq_offset"));
    if (size == nullptr || offset == nullptr) return result;
    result.size = *size;
    std::int32_t cpu_id = -1;
    std::memcpy(&cpu_id, static_cast<const char *>(__builtin_thread_pointer()) + *offset + kCpuIdOffset, sizeof cpu_id);
    result.registered = *size != 0 && cpu_id >= 0;
    return result;
}

Fact rseq_fact(const Rseq &rseq) {
    constexpr const char *kSlower = "malloc and free take a lock: correct, but slower";
    if (rseq.usable()) {
        if (variable("GRANARY_RSEQ") != "off") {
            return {"rseq", "on", "malloc and free take no lock on their fast path"};
        }
        return {"rseq", "off", fmt::format("GRANARY_RSEQ=off; {}", kSlower)};
    }
    if (!rseq.size)
        return {"rseq", "off", fmt::format("this C library does not register it (glibc does since 2.35); {}", kSlower)};
    if (variable("GLIBC_TUNABLES").value_or("").find("glibc.pthread.rseq=0") != std::string::npos) {
        return {"rseq", "off", fmt::format("GLIBC_TUNABLES has glibc.pthread.rseq=0; {}", kSlower)};
    }
    return {"rseq", "off", fmt::format("the kernel or a sandbox refused to register it; {}", kSlower)};
}

Fact mm_cid_fact(const Rseq &rseq) {
    const bool by_kernel = ::getauxval(kAuxRseqFeatureSize) >= kSizeWithCid;
    const bool by_libc = rseq.size >= kSizeWithCid || rseq.size == kSizeUpToNode || rseq.size == kSizeOriginalArea;
    if (rseq.usable() && by_kernel && by_libc) {
        return {"mm_cid", "on", "one heap for each thread that runs at the same time, not for each CPU of the machine"};
    }
    if (!rseq.usable()) return {"mm_cid", "off", "needs rseq"};
    return {"mm_cid", "off", "needs Linux 6.3; Granary uses the CPU number instead"};
}

Fact page_size_fact() {
    return {"page-size", size_text(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))),
            "the unit in which memory is returned to the kernel"};
}

Fact address_space_fact() {
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_AS, &limit) != 0) return {"address-space", "unknown", ""};
    if (limit.rlim_cur == RLIM_INFINITY) return {"address-space", "unlimited", ""};
    return {"address-space", size_text(limit.rlim_cur),
            "RLIMIT_AS (ulimit -v) counts reserved addresses, so Granary maps only what it uses; malloc fails at the "
            "limit"};
}

std::optional<std::string> first_line(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    return line;
}

Fact overcommit_fact() {
    const std::optional<std::string> mode = first_line("/proc/sys/vm/overcommit_memory");
    if (mode == "0") return {"overcommit", "heuristic", ""};
    if (mode == "1") return {"overcommit", "always", ""};
    if (mode == "2")
        return {"overcommit", "never",
                "the kernel counts memory when it is mapped, not when it is used; malloc may fail early"};
    return {"overcommit", "unknown", ""};
}

Fact huge_pages_fact() {
    const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
    const std::size_t start = line.find('[');
    const std::size_t end = line.find(']');
    if (start == std::string::npos || end == std::string::npos || end < start) return {"huge-pages", "unknown", ""};
    const std::string mode = line.substr(start + 1, end - start - 1);
    if (mode == "always") {
        return {"huge-pages", mode,
                "the kernel may back sparse memory with whole huge pages: faster, but more memory is resident"};
    }
    return {"huge-pages", mode, ""};
}

Fact map_count_fact() {
    return {"max-map-count", first_line("/proc/sys/vm/max_map_count").value_or("unknown"),
            "how many mappings a process may have; each block that is mapped directly counts"};
}

Fact seccomp_fact() {
    static constexpr std::array<std::string_view, 3> kModes{"off", "strict", "filter"};
    std::ifstream status("/proc/self/status");
    constexpr std::string_view kField = "Seccomp:";
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with(kField)) continue;
        const unsigned long mode = std::strtoul(line.c_str() + kField.size(), nullptr, 10);
        if (mode >= kModes.size()) break;
        return {"seccomp", std::string(kModes[mode]),
                mode == 0 ? "" : "a seccomp filter may refuse rseq or madvise; Granary continues without them"};
    }
    return {"seccomp", "unknown", ""};
}

std::optional<Fact> options_file_fact() {
    constexpr const char *kUsual = "/etc/granary.conf";
    const std::string path = variable("GRANARY_OPTIONS_FILE").value_or(kUsual);
    if (path.empty() || (path == kUsual && ::access(kUsual, F_OK) != 0)) return std::nullopt;
    return Fact{"options-file", path, "programs on Granary read options from it; see 'granary options'"};
}

std::optional<Fact> preload_fact() {
    const std::string preload = variable("LD_PRELOAD").value_or("");
    if (preload.empty()) return std::nullopt;
    return Fact{"preload", preload, "LD_PRELOAD is already set; granary run puts Granary first"};
}

}  // namespace

std::vector<Fact> environment_facts() {
    const Rseq rseq = rseq_here();
    std::vector<Fact> facts{rseq_fact(rseq),   mm_cid_fact(rseq), page_size_fact(), address_space_fact(),
                            overcommit_fact(), huge_pages_fact(), map_count_fact(), seccomp_fact()};
    if (std::optional<Fact> file = options_file_fact()) facts.push_back(std::move(*file));
    if (std::optional<Fact> preload = preload_fact()) facts.push_back(std::move(*preload));
    return facts;
}

}  // namespace gr::tool
