// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the statistics as text, JSON, XML and for Prometheus; the names and meanings of all from two tables.
// Invariant: every field of gr_statistics is printed, once; what Prometheus gets is valid in its text format 0.0.4.
// Must not know: where the text goes; how statistics are counted.
#pragma once

#include "base/text.hpp"
#include "instance/statistics.hpp"

namespace gr {

enum class StatisticsFormat : unsigned char { text, json, xml, prometheus };

// Bytes of a command line that are printed; the rest is cut.
inline constexpr std::size_t kCommandBytes = 256;

// The process whose statistics are printed, and its library: it may have libgranary and libgranary-prefixed. The output
// begins with both, because several processes and both libraries may print to one place.
struct Origin {
    unsigned process;
    const char *command;  // printable
    bool is_prefixed = false;
};

// The calling process, with room for its command line.
class OwnOrigin {
  public:
    OwnOrigin();
    OwnOrigin(const OwnOrigin &) = delete;
    OwnOrigin &operator=(const OwnOrigin &) = delete;
    const Origin *get() const { return &origin_; }

  private:
    char command_[kCommandBytes];
    Origin origin_;
};

using PutLine = void (*)(void *sink, const Text &line);

// Hands one line after the other to put; never allocates. Prints the size classes in use if `classes` is not nullptr
// and the format has a place for them.
void print_statistics(const gr_statistics &statistics, const HeapCount *classes, StatisticsFormat format, PutLine put,
                      void *sink, const Origin *origin = nullptr);
// Counts the statistics now, and prints them.
enum class Classes : bool { no, yes };
void print_statistics(const Instance &allocator, Classes classes, StatisticsFormat format, PutLine put, void *sink,
                      const Origin *origin = nullptr);

}  // namespace gr
