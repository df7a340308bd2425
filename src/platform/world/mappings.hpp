// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the mappings of the process, as the kernel lists them.
// Invariant: takes no memory and no lock of libc's; a mapping that does not change meanwhile is listed as it is, in the
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
    bool is_named = false;  // it is a file's, or the kernel has a name for it

    bool contains(const void *p) const { return begin <= p && p < end; }
    // The kernel splits what is one mapping for the program where a page is locked, or left out of dumps.
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
    // false: there is no further mapping, or the rest of the list cannot be read.
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

// All mappings at one moment, or only those that are asked about. Adjacent writable mappings count as one.
class MappingTable {
  public:
    constexpr MappingTable() = default;
    // false: there is no memory, or /proc does not list all mappings.
    [[nodiscard]] bool read();
    // Until end_asking(), of() asks the kernel about single addresses (Linux 6.11), so that the kernel need not list
    // all mappings. If the kernel cannot answer, all mappings are read now. Its answers do not set is_named.
    [[nodiscard]] bool begin_asking();
    void end_asking();
    // The mapping that contains p; an empty one if nothing is mapped there.
    Mapping of(const void *p) const { return asks() ? asked(p) : known(p); }
    // The mappings that were read last.
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
    long fd_ = kNone;       // the kernel's list, which is open while of() asks the kernel
    mutable Mapping last_;  // the last answer
};

}  // namespace gr::platform
