// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the pieces of which a trace file consists, and the numbers of which the first look at it consists.
// Invariant: a file is kMagic, then chunks; a chunk is its head, a summary as it is and a body; all numbers are
//    little-endian. What stands here stands in docs/design/trace-format.md, and changes only with kVersion.
// Must not know: who writes or reads them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "reading/trace/event.hpp"

namespace gr::trace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and read as it lies");

// A byte above 127 and both kinds of line end: what was sent as text is no longer a trace.
inline constexpr std::array<char, 12> kMagic = {'\x89', 'G', 'R', 'T', 'R', 'A', 'C', 'E', '\r', '\n', '\x1a', '\n'};
inline constexpr std::uint32_t kVersion = 1;

struct FileHead {
    std::array<char, kMagic.size()> magic = kMagic;
    std::uint32_t version = kVersion;
};
static_assert(sizeof(FileHead) == 16, "the format says 16 bytes");

constexpr std::uint32_t name_of_four(const char (&letters)[5]) {
    std::uint32_t name = 0;
    for (unsigned i = 0; i < 4; ++i) name |= std::uint32_t{static_cast<unsigned char>(letters[i])} << (8 * i);
    return name;
}

// Readers pass over kinds that they do not know.
enum class ChunkKind : std::uint32_t {
    start = name_of_four("STRT"),      // JSON
    events = name_of_four("EVNT"),     // EventsSummary; columns
    stacks = name_of_four("STAK"),     // StacksSummary; columns
    threads = name_of_four("THRD"),    // JSON
    modules = name_of_four("MODS"),    // JSON
    marks = name_of_four("MARK"),      // JSON
    samples = name_of_four("SAMP"),    // TableSummary; columns
    resident = name_of_four("RESI"),   // ResidentSummary; columns
    requests = name_of_four("MREQ"),   // TableSummary; columns
    memory = name_of_four("VMAS"),     // MemorySummary; columns
    names = name_of_four("PATH"),      // JSON
    relatives = name_of_four("KIDS"),  // JSON
    symbols = name_of_four("SYMB"),    // SymbolsSummary; columns
    end = name_of_four("DONE"),        // JSON
};

struct ChunkHead {
    std::uint32_t kind = 0;
    std::uint32_t summary_bytes = 0;
    std::uint32_t body_bytes = 0;
    std::uint32_t body_check = 0;  // CRC-32 of the body
    std::uint32_t head_check = 0;  // CRC-32 of the four numbers before and of the summary
};
static_assert(sizeof(ChunkHead) == 20, "the format says 20 bytes");

// A trace is a file that somebody else made: what exceeds these is damage, so that no number in a file makes a reader
// take memory or time that the file's own size does not justify.
inline constexpr std::uint32_t kMostSummaryBytes = 1U << 20;
inline constexpr std::uint32_t kMostBodyBytes = 1U << 28;
inline constexpr std::uint32_t kMostEvents = 1U << 16;
inline constexpr std::uint32_t kMostRuns = 1U << 22;  // of resident pages
// Rows of samples and of stacks: so many in any chunk, and more where the body has bytes for them.
inline constexpr std::uint32_t kRowsOfAnyBody = 1U << 16;
inline constexpr std::uint32_t kMostRowsPerByte = 128;
inline constexpr std::uint32_t kMostDepth = 1024;    // calls of a stack
inline constexpr std::size_t kMostNameBytes = 4096;  // of a mapped file
// Threads: so many in any file, and one more for each of so many bytes. A thread's shortest mention is longer.
inline constexpr std::uint32_t kThreadsOfAnyFile = 1U << 12;
inline constexpr std::uint32_t kLeastThreadBytes = 32;

// Names: of one chunk, and of all chunks of a file.
inline constexpr std::size_t kMostSymbolText = 4096;        // bytes of a text
inline constexpr std::uint32_t kMostCallsOfPlace = 255;     // functions in each other
inline constexpr std::uint64_t kMostLine = (1U << 31) - 1;  // of a source
inline constexpr std::uint64_t kMostTextOfChunk = std::uint64_t{1} << 23;
inline constexpr std::uint64_t kMostSymbolTexts = std::uint64_t{1} << 22;
inline constexpr std::uint64_t kMostSymbolBytes = std::uint64_t{1} << 26;
inline constexpr std::uint64_t kMostNamedPlaces = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostNamedCalls = std::uint64_t{1} << 21;
inline constexpr std::uint64_t kMostBytesOfNamedCalls = std::uint64_t{1} << 28;  // each text as often as a call has it

inline constexpr std::uint64_t kMostTime = std::uint64_t{1} << 56;   // time units: 228 years
inline constexpr std::uint64_t kMostBlock = std::uint64_t{1} << 57;  // bytes: no address space is larger
inline constexpr std::uint8_t kMostAlignment = 63;                   // as a logarithm
inline constexpr std::uint64_t kLeastPage = std::uint64_t{1} << 9;
inline constexpr std::uint64_t kMostPage = std::uint64_t{1} << 30;
constexpr bool is_page_size(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes >= kLeastPage && bytes <= kMostPage;
}
inline constexpr std::uint32_t kMostCpus = 1U << 20;
inline constexpr std::int64_t kMostClock = std::int64_t{1} << 62;  // nanoseconds since 1970

// A histogram of sizes that every chunk of events carries: 4 buckets to a doubling above 16 bytes.
inline constexpr unsigned kSizeBuckets = 96;
constexpr unsigned size_bucket(std::uint64_t size) {
    constexpr unsigned kStepBits = 2;
    constexpr unsigned kFirstBit = 4;
    if (size <= std::uint64_t{1} << kFirstBit) return 0;
    const std::uint64_t last = size - 1;
    const unsigned top = static_cast<unsigned>(std::bit_width(last)) - 1;
    const unsigned bucket = ((top - kFirstBit) << kStepBits) +
                            (static_cast<unsigned>(last >> (top - kStepBits)) & ((1U << kStepBits) - 1)) + 1;
    return bucket < kSizeBuckets ? bucket : kSizeBuckets - 1;
}
// The largest size that falls into it; of the last, none is.
constexpr std::uint64_t bucket_end(unsigned bucket) {
    const unsigned steps = bucket + 3;
    return bucket == 0 ? 16 : (std::uint64_t{4} + (steps & 3) + 1) << ((steps >> 2) + 1);
}
static_assert(size_bucket(17) == 1 && bucket_end(1) == 20 && size_bucket(20) == 1 && size_bucket(21) == 2,
              "the format says where buckets end");
static_assert(bucket_end(4) == 32 && size_bucket(32) == 4 && size_bucket(33) == 5 && bucket_end(5) == 40,
              "the format says where buckets end");

// Events of one thread, in the order in which it made them.
struct EventsSummary {
    std::uint32_t thread = 0;
    std::uint32_t events = 0;
    std::uint64_t first_time = 0;  // of its events, in time units
    std::uint64_t last_time = 0;
    std::uint32_t obtained = 0;  // calls that got memory
    std::uint32_t freed = 0;
    std::uint32_t failed = 0;    // calls that got none
    std::uint32_t of_pages = 0;  // calls to the kernel
    std::uint32_t lost = 0;      // events that this thread's ring had no room for, before these
    std::uint32_t stacks = 0;    // events that have one
    std::uint64_t bytes = 0;     // asked for by those that got memory
    std::uint64_t lowest = 0;    // of the blocks obtained, and behind the highest's end; 0 and 0: none
    std::uint64_t highest = 0;
    std::array<std::uint32_t, kSizeBuckets> sizes{};  // of those that got memory
};
static_assert(sizeof(EventsSummary) == 72 + 4 * kSizeBuckets, "the format has no padding");

// Nodes of the tree of stacks, numbered on from first.
struct StacksSummary {
    std::uint32_t first = 0;
    std::uint32_t nodes = 0;
};

// Of samples and of requests.
struct TableSummary {
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;  // more than a reader knows are passed over
    std::uint64_t first_time = 0;
    std::uint64_t last_time = 0;
};

// Which pages of the process were in memory at a moment.
struct ResidentSummary {
    std::uint64_t time = 0;
    std::uint32_t runs = 0;
    std::uint32_t page_bytes = 0;
    std::uint64_t resident_bytes = 0;
};

// What the resident memory was at a moment.
struct MemorySummary {
    std::uint64_t time = 0;
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;
    std::uint64_t resident = 0;  // bytes, without the recorder's
    std::uint64_t recorder = 0;
    std::uint64_t page_tables = 0;
};
static_assert(sizeof(MemorySummary) == 40, "the format has no padding");

// Names of places in the code.
struct SymbolsSummary {
    std::uint32_t texts = 0;
    std::uint32_t files = 0;
    std::uint32_t places = 0;
    std::uint32_t calls = 0;  // of all places
};

// Before the data of each column. A coding that is not kZstd is damage.
struct ColumnHead {
    std::uint8_t column = 0;
    std::uint8_t coding = 0;
    std::uint16_t unused = 0;
    std::uint32_t bytes = 0;      // as it lies in the file
    std::uint32_t raw_bytes = 0;  // before it was compressed
};
static_assert(sizeof(ColumnHead) == 12, "the format says 12 bytes");
inline constexpr std::uint8_t kZstd = 1;

// The columns of events. A column without anything is not there.
enum class EventColumn : std::uint8_t {
    ops = 1,         // a byte each
    times = 2,       // units since the event before
    addresses = 3,   // turned right by kAddressTurn bits, the difference from the one before, signed
    sizes = 4,       // of all but frees
    alignments = 5,  // of all but frees that have kHasAlignment set in ops: a byte each
    stacks = 6,      // events passed over, and a stack's number: pairs
    timings = 7,     // events passed over, and nanoseconds: pairs
};
inline constexpr std::uint8_t kHasAlignment = 0x80;
inline constexpr int kAddressTurn = 4;

enum class StackColumn : std::uint8_t {
    parents = 1,    // how far back the parent's number lies; the node's own number: it has none
    addresses = 2,  // the difference from the one before, signed
};

// Of a sample, each the difference from the row before, signed.
enum class SampleColumn : std::uint8_t {
    time = 1,
    resident = 2,   // bytes: Rss
    anonymous = 3,  // Anonymous
    lazy_free = 4,  // LazyFree
    huge = 5,       // AnonHugePages
    user = 6,       // microseconds of CPU time
    system = 7,
    faults = 8,   // minor and major, together
    threads = 9,  // how many there are
};
inline constexpr unsigned kSampleColumns = 9;

// Of a request. Of times and addresses the difference from the row before, signed.
enum class RequestColumn : std::uint8_t {
    time = 1,
    thread = 2,
    kind = 3,
    address = 4,
    size = 5,
    detail = 6,
    stack = 7,
};
inline constexpr unsigned kRequestColumns = 7;

// Of a part of the memory.
enum class MemoryColumn : std::uint8_t {
    kind = 1,
    name = 2,
    stack = 3,
    mappings = 4,
    bytes = 5,
    resident = 6,
};
inline constexpr unsigned kMemoryColumns = 6;

enum class SymbolColumn : std::uint8_t {
    texts = 1,   // bytes, each text with a zero byte behind it; numbered from 1
    files = 2,   // a path's text and a build id's: pairs
    places = 3,  // a file's number, the offset's difference from the place before, signed, and how many calls
    calls = 4,   // a function's text, a source's text and a line
};

enum class ResidentColumn : std::uint8_t {
    gaps = 1,  // pages from the end of the run before
    runs = 2,  // pages of the run
};

}  // namespace gr::trace
