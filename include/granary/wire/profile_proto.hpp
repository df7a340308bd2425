// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the format that pprof reads (profile.proto), as far as Granary writes it: the numbers of the fields, and how Protocol
//    Buffers encode numbers. The library writes its profile so, and `granary export --pprof` a trace.
// Invariant: a number stands here once; both writers use it.
// Must not know: what is counted, and where the bytes go.
#pragma once

#include <cstdint>

namespace gr::profile_proto {

namespace profile {
enum : std::uint32_t {
    kSampleType = 1,
    kSample,
    kMapping,
    kLocation,
    kFunction,
    kStringTable,
    kTime = 9,
    kDuration,
    kPeriodType,
    kPeriod,
    kComment,
    kDefaultSampleType
};
}
namespace value_type {
enum : std::uint32_t { kType = 1, kUnit };
}
namespace sample {
enum : std::uint32_t { kLocations = 1, kValues };
}
namespace mapping {
enum : std::uint32_t {
    kId = 1,
    kBegin,
    kEnd,
    kOffset,
    kFile,
    kBuildId,
    kHasFunctions,
    kHasFiles,
    kHasLines,
    kHasInlines
};
}
namespace location {
enum : std::uint32_t { kId = 1, kMapping, kAddress, kLine };
}
namespace line {
enum : std::uint32_t { kFunction = 1, kNumber };
}
namespace function {
enum : std::uint32_t { kId = 1, kName, kSystemName, kFile };
}

enum class Encoding : std::uint32_t { varint = 0, eight_bytes = 1, bytes = 2 };

// What stands before the value of a field.
constexpr std::uint64_t tag(std::uint32_t field, Encoding encoding) {
    return std::uint64_t{field} << 3 | static_cast<std::uint32_t>(encoding);
}

// Seven bits in a byte, the lowest first; the highest bit of a byte says that another byte follows.
template <class Put>
constexpr void put_varint(std::uint64_t value, Put put) {
    constexpr unsigned kBits = 7;
    constexpr std::uint64_t kMore = std::uint64_t{1} << kBits;
    for (; value >= kMore; value >>= kBits) put(static_cast<std::uint8_t>(value | kMore));
    put(static_cast<std::uint8_t>(value));
}

}  // namespace gr::profile_proto
