// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every constant that shapes the allocator, in one place.
// Invariant: an illegal combination does not compile (the assertions at the end).
// Must not know: any type or function of the allocator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr {

#ifdef GRANARY_DEBUG
inline constexpr bool kDebug = true;
#else
inline constexpr bool kDebug = false;
#endif

#ifdef GRANARY_COUNTED
inline constexpr bool kCounted = true;
#else
inline constexpr bool kCounted = false;
#endif

// The allocators of the lab tell what they do, for `granary lab show`.
#ifdef GRANARY_SHOWN
inline constexpr bool kShown = true;
#else
inline constexpr bool kShown = false;
#endif

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kGiB = 1024 * kMiB;
inline constexpr std::size_t kTiB = 1024 * kGiB;
inline constexpr std::uint64_t kNanosecondsPerMillisecond = 1'000'000;
inline constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

inline constexpr std::size_t kCacheLineBytes = 64;

// The region.
inline constexpr unsigned kUnitShift = 16;
inline constexpr std::size_t kUnitBytes = std::size_t{1} << kUnitShift;
inline constexpr unsigned kChunkShift = 21;
inline constexpr std::size_t kChunkBytes = std::size_t{1} << kChunkShift;
inline constexpr unsigned kUnitsPerChunk = kChunkBytes / kUnitBytes;
inline constexpr std::size_t kRegionPerPhysicalByte = 8;
inline constexpr std::size_t kRegionMinBytes = 4 * kMiB;
inline constexpr std::size_t kRegionMaxBytes = 4 * kTiB;
// Core files leave out rows of at least kLeastLeftOut chunks that hold nothing. Each row costs two mappings, so there are
// at most kMostLeftOut rows.
inline constexpr std::uint32_t kLeastLeftOut = 4;
inline constexpr std::uint32_t kMostLeftOut = 1024;

// A limit on addresses (RLIMIT_AS) or on data (RLIMIT_DATA) of at most kScarceLimit makes addresses scarce: the region
// is mapped and unmapped piece by piece. It has at most kMostHoles holes, because each hole is one mapping more. Its
// range leaves room for a limit that is raised later. The slabs may take one part in kScarceSlabsParts of the limit
// (those of a kind of collected memory one part in kScarceKindSlabsParts), each kind of retained memory one part in
// kScarceRetainParts.
inline constexpr std::size_t kScarceLimit = 32 * kGiB;
inline constexpr std::size_t kMostHoles = 16384;
inline constexpr std::size_t kScarceRangePerByte = 64;
inline constexpr std::size_t kScarceSlabsParts = 32;
inline constexpr std::size_t kScarceKindSlabsParts = 128;
inline constexpr std::size_t kScarceRetainParts = 256;
inline constexpr std::size_t kScarceRefusalParts = 8;  // a refusal of less than this part of the region: scarce
inline constexpr std::size_t kScarceSavingParts = 16;  // address-saving mode needs this part of the limit in use
// A scarce region is crowded when it has mapped more than this part of the limit. Then a block of which whole units would
// waste more than one part in kUnitWasteParts is mapped directly, in pages.
inline constexpr std::size_t kCrowdedParts = 4;
inline constexpr std::size_t kUnitWasteParts = 8;
inline constexpr std::size_t kScarceBytesPerDirect = 8 * kKiB;  // of the limit, for each entry of its table

// The size of a first-class heap's region if its maker names none. A heap has a dozen mappings, so the kernel's usual
// vm.max_map_count is used up before 47 bits of addresses are.
inline constexpr std::size_t kFirstClassRegionBytes = 16 * kGiB;
inline constexpr std::size_t kFirstClassPartsOfLimit = 64;  // the region takes at most one such part of RLIMIT_AS

// The largest request. A larger one is refused before any code adds a header or an alignment to its size.
inline constexpr std::size_t kMaxRequest = PTRDIFF_MAX;

// Size classes: steps of kFineStep up to kFineLimit, then kCoarsePerDoubling per doubling up to kClassLimit.
inline constexpr std::size_t kFineStep = 16;
inline constexpr std::size_t kFineLimit = 1024;
inline constexpr unsigned kCoarsePerDoubling = 8;
inline constexpr std::size_t kClassLimit = 32 * kKiB;
// calloc writes zeros to a block of more than kClassLimit and at most kZeroedAtOnce bytes although the kernel has
// cleared it, as long as it has credit (instance/zero_credit.hpp).
inline constexpr std::size_t kZeroedAtOnce = kMiB;
inline constexpr std::size_t kZeroCreditFirst = kMiB;
inline constexpr std::size_t kZeroCreditMost = 64 * kMiB;

// Superblocks: a class takes the fewest units whose tail waste is at most one part in kTailWasteParts.
inline constexpr unsigned kMaxSuperblockUnits = 4;
inline constexpr unsigned kTailWasteParts = 16;

// Heaps: Hoard's emptiness invariant u >= a - K*S or u >= (1-f)*a, per class, in blocks.
inline constexpr unsigned kMaxHeaps = 1024;
inline constexpr unsigned kFullnessGroups = 4;
inline constexpr unsigned kEmptinessParts = 4;                // f = 1 / kEmptinessParts
inline constexpr unsigned kSlackSuperblocks = 1;              // K
inline constexpr std::size_t kRemoteThreshold = 1024 * kKiB;  // T of the bound: beyond it an idle owner is drained
// A heap remembers so many superblocks that it gave up, and takes their memory first. While the global heap has at most
// kForeignSuperblocks of a class for each heap, a heap takes warm units rather than a superblock that another heap gave.
inline constexpr unsigned kRecentUnits = 32;
inline constexpr unsigned kForeignSuperblocks = 2;
// Empty memory goes first to the CPUs that used it. CPUs are counted modulo kCpuGroups.
inline constexpr unsigned kCpuGroups = 8;
inline constexpr unsigned kStripesPerCpu = 2;  // heaps in use without rseq
inline constexpr unsigned kMinStripes = 4;

// Address-saving mode begins when the memory in use has fallen by one part in kAddressSavingFallParts. It ends when
// that memory has grown by one such part, or has become little (heap/address_saving.hpp). It also ends after a number
// of calls without a fall of half a part: one call for each kAddressSavingBytesPerCall bytes in use.
inline constexpr std::size_t kAddressSavingFallParts = 8;
inline constexpr std::size_t kAddressSavingBytesPerCall = 1 * kKiB;

// Magazines.
inline constexpr std::size_t kSlabBytes = 128 * kKiB;
inline constexpr std::size_t kMagazineClassBytes = 64 * kKiB;
inline constexpr unsigned kMagazineMinSlots = 16;
inline constexpr unsigned kMagazineMaxSlots = 1024;
inline constexpr unsigned kBatchBlocks = 256;  // blocks that move at once; they lie on the stack meanwhile
inline constexpr unsigned kLookParts = 4;      // one cached block is looked at for so many blocks that are flushed
inline constexpr unsigned kUnusedLooks = 12;   // classes looked at before a superblock is made
inline constexpr std::size_t kUnusedBytes = kUnitBytes / 2;  // a magazine that keeps less resident is not emptied
inline constexpr unsigned kMagazineFirstSlots = 8;
inline constexpr unsigned kMagazineNarrowSlots = 16;           // magazines with at most so many slots lie densely
inline constexpr std::size_t kMagazineFirstBytes = 16 * kKiB;  // the first capacity, for larger blocks
inline constexpr std::size_t kMagazineFloorBytes = 1 * kKiB;   // a quiet class keeps this much
inline constexpr unsigned kRemoteMagazineSlots = 128;
inline constexpr std::size_t kRemoteMagazineBytes = 512 * kKiB;  // a remote magazine that held more becomes narrower
inline constexpr std::size_t kMagazineBudget = 256 * kKiB;       // of one heap's magazines, at first
inline constexpr unsigned kBudgetDoublings = 3;
inline constexpr unsigned kBudgetParts = 2;  // beyond the first budget: this part of the memory in use, for all heaps
inline constexpr unsigned kDenialsForMore = 1U << 12;  // slow paths without budget until it doubles; then twice so many
inline constexpr unsigned kMessages = 64;              // of each heap, for blocks that belong to other heaps
inline constexpr std::size_t kMessageBytes = 128;
inline constexpr unsigned kMessagesAhead = 2;    // messages that are prefetched while one is written or read
inline constexpr unsigned kSequenceRetries = 8;  // aborts in a row before the path without sequences

// Direct blocks, which the region does not hold.
inline constexpr std::size_t kDirectThreshold = 32 * kMiB;
inline constexpr std::size_t kGrowthLimit = 2 * kMiB;  // a block that realloc grows beyond it is mapped directly, too
inline constexpr unsigned kDirectTableEntries = 1U << 17;  // above the kernel's usual vm.max_map_count

// Memory that is returned to the OS. Two kinds of empty memory may stay resident: empty units, and free pages in
// superblocks that are in use. Each kind may keep the larger of kRetainBytes and one part in kAllowanceParts of the
// memory in use. Each byte that is faulted in again within kReuseNanoseconds after it was returned raises the reuse
// allowance by one byte. Empty units may use the allowance only while the memory in use and they together stay below
// its peak plus one part in kPeakSlackParts. The allowance falls with time: faulting in one KiB costs
// kRetakeNanosecondsPerKiB, and the allowance falls so fast that faulting in again costs at most one part in
// kRetakeTimeParts of the time, which is checked every kReviewNanoseconds. After each window it is at most what was
// taken and freed again within that window.
inline constexpr std::size_t kRetainBytes = 1 * kMiB;
inline constexpr std::size_t kReuseBytes = kTiB;  // in effect no bound
inline constexpr unsigned kAllowanceParts = 32;
inline constexpr unsigned kPeakSlackParts = 4;
inline constexpr std::uint64_t kRetakeNanosecondsPerKiB = 400;
inline constexpr std::uint64_t kRetakeTimeParts = 256;
inline constexpr std::uint64_t kReviewNanoseconds = 50'000'000;
inline constexpr std::uint64_t kReuseNanoseconds = 250'000'000;
inline constexpr std::uint64_t kReuseWindowNanoseconds = 2'000'000'000;
// Empty units that stay only for reuse are freed lazily (MADV_FREE): the kernel takes them first when memory is short.
// This happens when the memory in use has fallen by one part in kLazyFallParts of its height, for then the program may
// be done. A fall ends when the memory in use rises again by one part in kLazyRestParts of the fall. Freeing lazily
// takes at most one part in kLazyTimeParts of the time, and up to kLazySavedNanoseconds of that time are saved up, also
// at the start. The cost of a KiB, with touching it again, and the cost of a piece are constants: a clock would also
// count the time that other processes took of the CPU.
inline constexpr std::size_t kLazyLeastBytes = 4 * kMiB;  // less is not freed lazily
inline constexpr std::size_t kLazyBatchBytes = 4 * kMiB;
inline constexpr unsigned kLazyPieceUnits = 4;
inline constexpr std::uint32_t kLazySearchChunks = 4096;
inline constexpr std::size_t kLazyFallParts = 4;
inline constexpr std::size_t kLazyRestParts = 16;
inline constexpr std::uint64_t kLazyTimeParts = 16;
inline constexpr std::uint64_t kLazyNanosecondsPerKiB = 85;
inline constexpr std::uint64_t kLazyNanosecondsPerPiece = 3000;
inline constexpr std::uint64_t kLazySavedNanoseconds = 2'000'000'000;
// A sweep is spread over the last part in kSweepParts of the free memory that may stay. No chunk is looked at for less
// than kLeastSweepGrowth freed bytes.
inline constexpr unsigned kSweepParts = 2;
inline constexpr std::size_t kLeastSweepGrowth = 256;

// Huge pages are made once kHugeHeapBytes are in use. A chunk is dense when at most one part in kHugeAbsentParts of it
// is absent or was never touched. A huge page is split only if at least one part in kHugeSplitParts of it is empty.
// Making huge pages takes at most one part in kHugeTimeParts of the time, and no chunk is looked at twice within
// kHugeRoundNanoseconds. A call of the program waits for each huge page. When one takes kHugePatienceNanoseconds or
// more, that part of the time is halved for each doubling, and again while the next ones take so long.
inline constexpr std::size_t kHugeHeapBytes = 64 * kMiB;
inline constexpr std::size_t kHugeAbsentParts = 32;
inline constexpr std::size_t kHugeSplitParts = 8;
inline constexpr std::uint64_t kHugeTimeParts = 64;
inline constexpr std::uint64_t kHugeRoundNanoseconds = 100'000'000;
inline constexpr std::uint64_t kHugePatienceNanoseconds = 1'000'000;
inline constexpr unsigned kHugeMostHalvings = 16;
inline constexpr unsigned kHugePagesPerTick = 4;  // made by the background thread, if there is one

// The background thread, if an option asks for it. It ticks while there is something to do. It is not started in
// programs and children of fork that end soon.
inline constexpr unsigned kTickMilliseconds = 500;
inline constexpr unsigned kTicksToIdle = 2;   // a heap without a slow path for so long is idle
inline constexpr unsigned kTicksToSleep = 4;  // without any slow path; then empty memory is returned to the OS
inline constexpr unsigned kSlowPathsToStart = 128;

// Statistics that are written periodically: the interval if the option names none, and the longest interval.
inline constexpr std::size_t kStatisticsSeconds = 10;
inline constexpr std::size_t kStatisticsSecondsMost = 86'400;

// A walk over the blocks in use copies which blocks these are, for so many units at once.
inline constexpr unsigned kWalkUnits = 1024;

// Memory limits. The soft limit is reported again only after the held memory has fallen one part in kLimitParts below
// it. A request that the hard limit refuses is tried at most kLimitAttempts times, as long as memory is being returned.
inline constexpr unsigned kLimitParts = 16;
inline constexpr unsigned kLimitAttempts = 32;
inline constexpr unsigned kYieldsForPurges = 256;  // to threads that return memory; then the waiting thread sleeps
inline constexpr unsigned kPurgeMilliseconds = 1;

// What GRANARY_JUNK fills new and freed blocks with. A pointer that consists of either byte is not a valid address: on
// x86-64 the upper bits of an address are all equal, and so are, on aarch64, the bits below the byte that the CPU may
// ignore.
inline constexpr unsigned char kJunkAllocated = 0xa5;
inline constexpr unsigned char kJunkFreed = 0x5a;

// The text of options. A longer file is ignored, and so is a longer text that the program was compiled with. A warning
// shows at most kShownOptionBytes of an ignored text.
inline constexpr std::size_t kOptionFileBytes = 16 * kKiB;
inline constexpr std::size_t kProgramOptionBytes = 4 * kKiB;
inline constexpr std::size_t kShownOptionBytes = 200;

// The profile of a running program: the average number of bytes between two samples if GRANARY_PROFILE names none, and
// the largest that it may name; how many calls of a stack are kept; how many samples may be live, and how many stacks
// are told apart.
inline constexpr std::size_t kProfileMean = 512 * kKiB;
inline constexpr std::size_t kProfileMeanMost = kTiB;
inline constexpr std::size_t kProfileCalls = 64;
inline constexpr std::size_t kMostSamples = std::size_t{1} << 19;
inline constexpr std::size_t kMostSites = std::size_t{1} << 18;

static_assert(kUnitsPerChunk == 32, "a chunk's units are one 32-bit mask");
static_assert(kClassLimit <= kUnitBytes && kFineLimit < kClassLimit && kClassLimit <= kZeroedAtOnce,
              "the largest class fits into a unit, and is above the fine steps and at most kZeroedAtOnce");
static_assert(kFineLimit % kFineStep == 0 && (kFineLimit & (kFineLimit - 1)) == 0,
              "fine steps end at a power of two, where the doublings begin");
static_assert(
    kMessages > kMessagesAhead && kRemoteMagazineBytes >= kMagazineFirstSlots * kClassLimit,
    "a heap has more messages than are prefetched; the first slots of a remote magazine may hold the largest blocks");
static_assert(kRemoteThreshold >= 2 * kRemoteMagazineBytes,
              "a heap that runs has time to read what one magazine brought");
static_assert(kJunkAllocated != kJunkFreed && kJunkAllocated != 0 && kJunkFreed != 0 && kJunkAllocated != 0xff &&
                  kJunkFreed != 0xff,
              "the two patterns differ, and neither is zeros or ones");
static_assert(kMagazineMaxSlots <= 1024 && kMagazineFirstSlots >= 2 && kMagazineNarrowSlots >= kMagazineFirstSlots,
              "the limits of a magazine fit into its header, and every magazine has room for two blocks");

}  // namespace gr
