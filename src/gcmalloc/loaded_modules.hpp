// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the files of code that the loader has loaded, by copies that stay valid when a file is unloaded.
// Invariant: a file without code is listed, too; its range of code is empty. No memory is taken from malloc.
// Must not know: what the list is used for.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

namespace gr {

struct LoadedModule {
    static constexpr std::size_t kBuildIdBytes = 132;  // two digits for each byte of the longest that linkers make
    static constexpr std::size_t kPathBytes = 4096;

    static void describe(const dl_phdr_info &info, LoadedModule *module);

    std::uintptr_t base = 0;
    std::uintptr_t begin = 0;  // of its code
    std::uintptr_t end = 0;
    char build_id[kBuildIdBytes] = {};  // "-": none
    char path[kPathBytes] = {};

    bool is(const LoadedModule &other) const;
    bool overlaps(const LoadedModule &other) const { return begin < other.end && other.begin < end; }
};

class LoadedModules {
  public:
    constexpr LoadedModules() = default;
    ~LoadedModules();
    LoadedModules(const LoadedModules &) = delete;
    LoadedModules &operator=(const LoadedModules &) = delete;

    // What is loaded now; nothing if there is no memory.
    void list();
    // How often the loader had unloaded a file when the list was made.
    unsigned long long unloads() const { return unloads_; }
    static unsigned long long unloads_now();
    std::span<const LoadedModule> all() const { return {modules_, count_}; }
    static bool is_loaded(const LoadedModule &module);

  private:
    static int add(dl_phdr_info *info, std::size_t bytes, void *to);

    LoadedModule *modules_ = nullptr;
    std::size_t count_ = 0;
    std::size_t most_ = 0;
    unsigned long long unloads_ = 0;
};

}  // namespace gr
