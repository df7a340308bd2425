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

// Under a limit on addresses (RLIMIT_AS) or on data (RLIMIT_DATA). Up to so much the region is mapped piece by piece
// and given back the same way, in so many holes at most, for each is a mapping more; its range leaves room for a limit
// that is raised. What stays beside what is in use is one part of the limit each.
inline constexpr std::size_t kScarceLimit = 32 * kGiB;
inline constexpr std::size_t kMostHoles = 16384;
inline constexpr std::size_t kScarceRangePerByte = 64;
inline constexpr std::size_t kScarceSlabsParts = 32;
inline constexpr std::size_t kScarceRetainParts = 256;
inline constexpr std::size_t kScarceRefusalParts = 8;  // of what is mapped: if less is refused, addresses are scarce
inline constexpr std::size_t kScarceSavingParts = 16;  // from so much in use on nothing is cached while it falls
inline constexpr std::size_t kScarceBytesPerDirect = 8 * kKiB;  // of the limit; an entry of its table each

// A first-class heap's region, where its maker names no size. The kernel's usual vm.max_map_count, at a dozen mappings
// a heap, ends before 47 bits of addresses do.
inline constexpr std::size_t kFirstClassRegionBytes = 16 * kGiB;
inline constexpr std::size_t kFirstClassPartsOfLimit = 64;  // of an RLIMIT_AS, it takes one at most

// The largest request; a larger one is refused before anybody adds a header or an alignment to it.
inline constexpr std::size_t kMaxRequest = PTRDIFF_MAX;

// Size classes: steps of kFineStep up to kFineLimit, then kCoarsePerDoubling per doubling up to kClassLimit.
inline constexpr std::size_t kFineStep = 16;
inline constexpr std::size_t kFineLimit = 1024;
inline constexpr unsigned kCoarsePerDoubling = 8;
inline constexpr std::size_t kClassLimit = 32 * kKiB;
// calloc writes zeros to a block between kClassLimit and kZeroedAtOnce that the kernel has cleared, as far as the
// credit goes (instance/zero_credit.hpp).
inline constexpr std::size_t kZeroedAtOnce = kMiB;
inline constexpr std::size_t kZeroCreditFirst = kMiB;
inline constexpr std::size_t kZeroCreditMost = 64 * kMiB;

// Superblocks: a class takes the fewest units whose tail waste is one part in kTailWasteParts at most.
inline constexpr unsigned kMaxSuperblockUnits = 4;
inline constexpr unsigned kTailWasteParts = 16;

// Heaps: Hoard's emptiness invariant u >= a - K*S or u >= (1-f)*a, per class, in blocks.
inline constexpr unsigned kMaxHeaps = 1024;
inline constexpr unsigned kFullnessGroups = 4;
inline constexpr unsigned kEmptinessParts = 4;                // f = 1 / kEmptinessParts
inline constexpr unsigned kSlackSuperblocks = 1;              // K
inline constexpr std::size_t kRemoteThreshold = 1024 * kKiB;  // T of the bound: an idle owner is drained beyond it
inline constexpr unsigned kStripesPerCpu = 2;                 // heaps in use without rseq
inline constexpr unsigned kMinStripes = 4;

// Nothing is cached once what is in use fell by one part, until it grew by one, is down to one, or calls went by
// without half a part's fall: one for so many bytes.
inline constexpr std::size_t kAddressSavingFallParts = 8;
inline constexpr std::size_t kAddressSavingBytesPerCall = 1 * kKiB;

// Magazines.
inline constexpr std::size_t kSlabBytes = 128 * kKiB;
inline constexpr std::size_t kMagazineClassBytes = 64 * kKiB;
inline constexpr unsigned kMagazineMinSlots = 16;
inline constexpr unsigned kMagazineMaxSlots = 1024;
inline constexpr unsigned kBatchBlocks = 256;                // move at once; they lie on the stack meanwhile
inline constexpr unsigned kLookParts = 4;                    // for so many blocks flushed, one that stays is looked at
inline constexpr unsigned kUnusedLooks = 12;                 // at classes, before a superblock is made
inline constexpr std::size_t kUnusedBytes = kUnitBytes / 2;  // what one with less keeps resident is not worth it
inline constexpr unsigned kMagazineFirstSlots = 8;
inline constexpr unsigned kMagazineNarrowSlots = 16;           // as long as no more are wanted, magazines lie densely
inline constexpr std::size_t kMagazineFirstBytes = 16 * kKiB;  // at first, for larger blocks
inline constexpr std::size_t kMagazineFloorBytes = 1 * kKiB;   // a quiet class keeps this much
inline constexpr unsigned kRemoteMagazineSlots = 128;
inline constexpr std::size_t kRemoteMagazineBytes = 512 * kKiB;  // it narrows when it held more
inline constexpr std::size_t kMagazineBudget = 256 * kKiB;       // of a heap, at first
inline constexpr unsigned kBudgetDoublings = 3;
inline constexpr unsigned kBudgetParts = 2;            // of what is in use, beyond the first: of all heaps together
inline constexpr unsigned kDenialsForMore = 1U << 12;  // slow paths for want of budget; twice as many the next time
inline constexpr unsigned kMessages = 64;              // of each heap, for blocks on their way to other heaps
inline constexpr std::size_t kMessageBytes = 128;
inline constexpr unsigned kMessagesAhead = 2;    // whose cache lines are asked for while one is written or read
inline constexpr unsigned kSequenceRetries = 8;  // aborts in a row before the path without sequences

// Blocks the region does not hold.
inline constexpr std::size_t kDirectThreshold = 32 * kMiB;
inline constexpr std::size_t kGrowthLimit = 2 * kMiB;      // what realloc makes larger is mapped directly, too
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
// A sweep is spread over the last part of what may stay. For less than so much no chunk is looked at.
inline constexpr unsigned kSweepParts = 2;
inline constexpr std::size_t kLeastSweepGrowth = 256;

// Huge pages. The heap is large from so many bytes in use on. A chunk is dense when at most one of so many parts of it
// was never touched or is absent, and it is split only for one part of so many that holds nothing. Making them takes
// one part of the time at most, and no chunk is looked at twice in a round's time. A call of the program's waits for
// each: when one takes longer than patience, that part is halved for each doubling, and again while the next ones do.
inline constexpr std::size_t kHugeHeapBytes = 64 * kMiB;
inline constexpr std::size_t kHugeAbsentParts = 32;
inline constexpr std::size_t kHugeSplitParts = 8;
inline constexpr std::uint64_t kHugeTimeParts = 64;
inline constexpr std::uint64_t kHugeRoundNanoseconds = 100'000'000;
inline constexpr std::uint64_t kHugePatienceNanoseconds = 1'000'000;
inline constexpr unsigned kHugeMostHalvings = 16;
inline constexpr unsigned kHugePagesPerTick = 4;  // of the background thread, if there is one

// The background thread, where it is asked for. It ticks while there is something to do, and is not started for
// programs and children of fork that end soon.
inline constexpr unsigned kTickMilliseconds = 500;
inline constexpr unsigned kTicksToIdle = 2;   // of a heap without a slow path
inline constexpr unsigned kTicksToSleep = 4;  // of a process without one; then all goes back
inline constexpr unsigned kSlowPathsToStart = 128;

// Statistics that are written again and again: the time between two, where nobody says it, and at most.
inline constexpr std::size_t kStatisticsSeconds = 10;
inline constexpr std::size_t kStatisticsSecondsMost = 86'400;

// A walk over the blocks in use copies which they are, for so many units at once.
inline constexpr unsigned kWalkUnits = 1024;

// Memory limits: news of the soft one come again only after what is held fell this part of it below. So often the hard
// one is asked again, while something goes back.
inline constexpr unsigned kLimitParts = 16;
inline constexpr unsigned kLimitAttempts = 32;
inline constexpr unsigned kYieldsForPurges = 256;  // to who gives something back; then sleeps
inline constexpr unsigned kPurgeMilliseconds = 1;

// What GRANARY_JUNK fills new and freed blocks with. A pointer that is read from either is no address: on x86-64 the upper
// bits of an address are all alike, and on aarch64 those below the byte that the CPU may ignore.
inline constexpr unsigned char kJunkAllocated = 0xa5;
inline constexpr unsigned char kJunkFreed = 0x5a;

// The text of options: the file is ignored if it is longer, and so is what the program was compiled with. Of what is
// ignored a warning shows so much.
inline constexpr std::size_t kOptionFileBytes = 16 * kKiB;
inline constexpr std::size_t kProgramOptionBytes = 4 * kKiB;
inline constexpr std::size_t kShownOptionBytes = 200;

// The profile of a running program: bytes between two samples on average, where GRANARY_PROFILE does not say; how many
// calls of a stack are kept; and how many samples may be live and how many stacks told apart.
inline constexpr std::size_t kProfileMean = 512 * kKiB;
inline constexpr std::size_t kProfileMeanMost = kTiB;
inline constexpr std::size_t kProfileCalls = 64;
inline constexpr std::size_t kMostSamples = std::size_t{1} << 19;
inline constexpr std::size_t kMostSites = std::size_t{1} << 18;

static_assert(kUnitsPerChunk == 32, "a chunk's units are one 32-bit mask");
static_assert(kClassLimit <= kUnitBytes && kFineLimit < kClassLimit && kClassLimit <= kZeroedAtOnce);
static_assert(kFineLimit % kFineStep == 0 && (kFineLimit & (kFineLimit - 1)) == 0);
static_assert(kMessages > kMessagesAhead && kRemoteMagazineBytes >= kMagazineFirstSlots * kClassLimit);
static_assert(kRemoteThreshold >= 2 * kRemoteMagazineBytes,
              "a heap that runs has time to read what one magazine brought");
static_assert(kJunkAllocated != kJunkFreed && kJunkAllocated != 0 && kJunkFreed != 0 && kJunkAllocated != 0xff &&
              kJunkFreed != 0xff);
static_assert(kMagazineMaxSlots <= 1024 && kMagazineFirstSlots >= 2 && kMagazineNarrowSlots >= kMagazineFirstSlots);

}  // namespace gr
