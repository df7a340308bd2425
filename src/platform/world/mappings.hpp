// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is mapped into the process, as the kernel tells it.
// Invariant: takes no memory and no lock of libc's; what is not mapped or unmapped meanwhile is told as it is, in the
//    order of the addresses.
// Must not know: whose the mappings are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/world/mapped_list.hpp"

namespace gr::platform {

struct Mapping {
    const char *begin = nullptr;
    const char *end = nullptr;
    bool readable = false;
    bool writable = false;
    bool is_private = false;
    bool is_named = false;  // a file's, or the kernel says what it is

    bool contains(const void *p) const { return begin <= p && p < end; }
    // The kernel divides what is one to the program where a page is locked, or left out of dumps.
    bool goes_on_in(const Mapping &next) const {
        return end == next.begin && readable && writable && next.readable && next.writable &&
               is_private == next.is_private;
    }
};

class Mappings {
  public:
    explicit Mappings(const char *list);
    ~Mappings();
    Mappings(const Mappings &) = delete;
    Mappings &operator=(const Mappings &) = delete;

    // false: /proc is not there.
    bool opened() const { return fd_ >= 0; }
    // false: that was the last, or the list cannot be read on.
    bool next(Mapping *out);
    bool is_whole() const { return is_whole_; }

  private:
    bool peek(char *out);
    bool take(char *out);
    bool take_address(char end, const char **out);
    void skip(unsigned fields);

    long fd_;
    bool is_whole_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    char text_[1024];
};

// All of them at one moment, or as many as are asked about. What may be written and lies side by side is one.
class MappingTable {
  public:
    constexpr MappingTable() = default;
    // false: no memory, or no /proc that tells of all.
    [[nodiscard]] bool read();
    // Until end_asking() of() asks the kernel, which has not to tell of all then, if it can be asked so (Linux 6.11);
    // else they are read now. What has a name it does not tell so.
    [[nodiscard]] bool begin_asking();
    void end_asking();
    // Where p lies; no address at all if nothing was mapped there.
    Mapping of(const void *p) const { return asks() ? asked(p) : known(p); }
    // Those read last.
    std::span<const Mapping> all() const { return mappings_.all(); }
    void release() { mappings_.release(); }

  private:
    static constexpr long kNone = -1;

    bool read(const char *list);
    bool asks() const { return fd_ >= 0; }
    bool ask(const void *p, Mapping *out) const;
    Mapping asked(const void *p) const;
    Mapping known(const void *p) const;

    MappedList<Mapping> mappings_;
    long fd_ = kNone;       // of the kernel's list, while it is asked: then it is there for each question
    mutable Mapping last_;  // that was asked about
};

}  // namespace gr::platform
