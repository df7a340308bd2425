// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: mallinfo, mallinfo2, malloc_info, malloc_stats, malloc_trim, mallopt.
// Invariant: their numbers follow what the program allocates and frees.
// Must not know: how the numbers are counted.
#include "support.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <array>
#include <string>

namespace gr::conformance {
namespace {

constexpr std::size_t kHeld = 6 * kMiB;

class Held {
  public:
    explicit Held(std::size_t size) : blocks_(kHeld / size) {
        for (void *&block : blocks_) {
            block = std::malloc(size);
            std::memset(block, 1, size);
        }
    }
    ~Held() {
        for (void *block : blocks_) {
            std::free(block);
        }
    }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;

  private:
    std::vector<void *> blocks_;
};

std::size_t in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

TEST(Information, Mallinfo2Follows) {
    for (std::size_t size : {std::size_t{64}, std::size_t{1024}, 100 * kKiB, kHeld}) {
        const std::size_t before = in_use();
        std::size_t during = 0;
        {
            const Held held(size);
            during = in_use();
            EXPECT_GE(during, before + kHeld / size * size) << size;
            EXPECT_LE(during, before + 2 * kHeld) << size;
        }
        EXPECT_LE(in_use(), during - kHeld / size * size) << size;
    }
}

std::size_t free_blocks() {
    const struct mallinfo2 info = mallinfo2();
    return info.ordblks + info.smblks;
}

// glibc: ordblks are free chunks, smblks those in its caches.
TEST(Information, Mallinfo2CountsFreeBlocks) {
    constexpr std::size_t kBlocks = 3000;
    constexpr std::size_t kSize = 208;
    std::vector<void *> blocks(2 * kBlocks);
    for (void *&block : blocks) block = std::malloc(kSize);
    malloc_trim(0);  // blocks of superblocks that are empty are no blocks any more
    const std::size_t before = free_blocks();
    for (std::size_t i = 0; i < blocks.size(); i += 2) std::free(blocks[i]);
    EXPECT_GE(free_blocks(), before + kBlocks);
    EXPECT_LE(free_blocks(), before + kBlocks + kBlocks / 10);
    for (std::size_t i = 1; i < blocks.size(); i += 2) std::free(blocks[i]);
}

TEST(Information, Mallinfo2CountsDirectMappings) {
    const std::size_t before = in_use();
    void *block = std::malloc(100 * kMiB);
    ASSERT_NE(block, nullptr);
    EXPECT_GE(in_use(), before + 100 * kMiB);
    const struct mallinfo2 info = mallinfo2();
    EXPECT_GE(info.hblks, 1u);
    EXPECT_GE(info.hblkhd, 100 * kMiB);
    std::free(block);
    EXPECT_LE(in_use(), before + kMiB);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Information, MallinfoFollows) {
    const struct mallinfo before = mallinfo();
    const Held held(1000);
    const struct mallinfo during = mallinfo();
    EXPECT_GE(during.uordblks, before.uordblks + static_cast<int>(kHeld / 1000 * 1000));
}
#pragma GCC diagnostic pop

// What a call wrote to a file, in full.
std::string content_of(int file) {
    std::string text;
    std::array<char, 4096> buffer;
    off_t offset = 0;
    for (ssize_t count; (count = pread(file, buffer.data(), buffer.size(), offset)) > 0; offset += count) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

TEST(Information, MallocStatsWritesToStandardError) {
    const int file = memfd_create("malloc_stats", 0);
    ASSERT_GE(file, 0);
    const int kept = dup(STDERR_FILENO);
    std::fflush(stderr);
    dup2(file, STDERR_FILENO);
    malloc_stats();
    std::fflush(stderr);
    dup2(kept, STDERR_FILENO);
    const std::string text = content_of(file);
    EXPECT_NE(text.find_first_of("0123456789"), std::string::npos) << text;
    EXPECT_EQ(text.back(), '\n');
    close(kept);
    close(file);
}

TEST(Information, MallocInfoWritesXml) {
    const int file = memfd_create("malloc_info", 0);
    ASSERT_GE(file, 0);
    FILE *stream = fdopen(dup(file), "w");
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(malloc_info(0, stream), 0);
    std::fclose(stream);
    const std::string text = content_of(file);
    EXPECT_EQ(text.rfind("<malloc", 0), 0u) << text;
    EXPECT_NE(text.find("</malloc>"), std::string::npos) << text;
    close(file);
}

TEST(Information, MallocInfoRejectsOptions) {
    for (int options : {1, -1, 1000}) {
        errno = 0;
        const int result = malloc_info(options, stderr);
        // glibc returns the error; POSIX style would be -1 and errno. Either way it must be seen and be EINVAL.
        EXPECT_TRUE(result == EINVAL || (result == -1 && errno == EINVAL)) << result;
    }
}

TEST(Information, MallocTrimSaysWhetherMemoryWentBack) {
    if (!black_box::granary_in_use()) {
        GTEST_SKIP() << "another malloc may keep what it likes";
    }
    malloc_trim(0);
    { const Held held(1000); }
    EXPECT_EQ(malloc_trim(0), 1);
    EXPECT_EQ(malloc_trim(0), 0) << "nothing was freed since the last trim";
}

TEST(Information, MalloptAccepts) {
    EXPECT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 20), 1);
    EXPECT_EQ(mallopt(M_TRIM_THRESHOLD, 1 << 20), 1);
    EXPECT_EQ(mallopt(M_ARENA_MAX, 2), 1);
    EXPECT_EQ(mallopt(M_PERTURB, 0), 1);
    void *block = opaque(std::malloc(2 * kMiB));
    ASSERT_NE(block, nullptr);
    std::free(block);
}

}  // namespace
}  // namespace gr::conformance
