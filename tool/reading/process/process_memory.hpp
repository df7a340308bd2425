// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the memory of a running process, as /proc shows it: its mappings, its bytes, and which pages are resident.
// Invariant: the process is neither stopped nor traced; read_touched leaves no page behind in it where it had none.
// Must not know: what the memory is used for.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gr::tool {

struct Mapping {
    std::uint64_t begin;
    std::uint64_t end;
    bool writable;
    bool shared;
    std::string name;        // a path, "[heap]", or empty: anonymous
    std::uint64_t resident;  // bytes, as the kernel counts them for RSS
    std::uint64_t huge;      // of these in anonymous huge pages
    std::uint64_t lazy;      // of these what the kernel takes first when memory is short (MADV_FREE)
};

// What RSS says of an anonymous page. One that others map too may be the page of zeroes, which RSS does not count, or
// be shared with a child, which it does.
enum class PageState : std::uint8_t { absent, resident, shared };

// The pages of one anonymous mapping. Where both kinds of shared pages occur at once, each counts as the mean of them.
struct Pages {
    std::uint64_t begin = 0;
    std::vector<PageState> states;
    double shared_weight = 0;  // how much of a shared page counts, so that all together count as the mapping's RSS

    [[nodiscard]] std::uint64_t end() const;
    // Resident bytes between two addresses.
    [[nodiscard]] double resident(std::uint64_t from, std::uint64_t to) const;
};

[[noreturn]] void fail_ended(int process);
// By what the kernel says of a file of the process.
[[noreturn]] void fail_to_look(int process, int error);

class ProcessMemory {
  public:
    // Throws Failure when there is no such process or it may not be looked at; so does every other function, when it
    // has ended meanwhile.
    explicit ProcessMemory(int process);
    ~ProcessMemory();
    ProcessMemory(const ProcessMemory &) = delete;
    ProcessMemory &operator=(const ProcessMemory &) = delete;

    [[nodiscard]] int process() const { return process_; }
    [[nodiscard]] const std::string &executable() const { return executable_; }
    [[nodiscard]] static std::uint64_t page_bytes();

    // As they are now, by address.
    [[nodiscard]] std::vector<Mapping> mappings() const;
    [[nodiscard]] Pages pages(const Mapping &mapping) const;

    // false: not all of it is mapped.
    [[nodiscard]] bool read(std::uint64_t address, void *to, std::size_t bytes) const;
    // Pages that the process has not touched read as zeroes and are left alone: for what it wrote itself.
    [[nodiscard]] bool read_touched(std::uint64_t address, void *to, std::size_t bytes) const;

  private:
    [[nodiscard]] std::vector<std::uint64_t> page_entries(std::uint64_t begin, std::uint64_t end) const;
    [[nodiscard]] int open_file(const char *name) const;

    int process_;
    std::string executable_;
    int memory_ = -1;
    int page_map_ = -1;
};

}  // namespace gr::tool
