// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the addresses of a process at which the code of several files lay, one after the other, and the addresses that
//    stand for them in its trace.
// Invariant: an address in a trace belongs to one file at most. The first file at an address has the address itself;
//    each later one has addresses of its own, where no process has code.
// Must not know: who tells what is mapped.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "reading/trace/contents.hpp"

namespace gr::tool {

class CodeAddresses {
  public:
    // What is mapped now. Returns what was not mapped before, with the addresses of the trace.
    [[nodiscard]] std::vector<trace::Module> update(std::vector<trace::Module> mapped);
    // Of the address behind a call that is on a stack now.
    [[nodiscard]] std::uint64_t in_trace(std::uint64_t address) const {
        return moved_.empty() ? address : in_trace_of_moved(address);
    }
    // While this number stays, in_trace() answers as before.
    [[nodiscard]] std::uint64_t unloads() const { return unloads_; }
    // Whether a file is known to be there; of an address in the trace.
    [[nodiscard]] bool is_known(std::uint64_t address) const;
    // Whether the first file of both is the same, at the same address: of parent and child by fork it is.
    [[nodiscard]] bool begins_as(const CodeAddresses &other) const;

  private:
    struct Moved {
        std::uint64_t end = 0;
        std::uint64_t by = 0;  // modulo 2^64
    };
    using Ranges = std::map<std::uint64_t, Moved>;  // by begin; none lies over another

    [[nodiscard]] std::uint64_t in_trace_of_moved(std::uint64_t address) const;
    void unload(std::uint64_t begin, std::uint64_t end);
    void cut(std::uint64_t address);
    void add_in_trace(const trace::Module &module, std::vector<trace::Module> *all) const;

    std::vector<trace::Module> mapped_;  // by begin
    std::vector<trace::Module> known_;   // the same with the addresses of the trace, by begin
    Ranges moved_;
    std::uint64_t unloads_ = 0;
    std::uint64_t next_ = trace::kFirstStandIn;
};

}  // namespace gr::tool
