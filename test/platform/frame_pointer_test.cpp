// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which frames a frame pointer leads to: on the same stack, from made code to made code, and from C to the stack of Go.
// Invariant: frames are made up; only what they point to is read.
// Must not know: whole walks.
#include "platform/unwind/frame_pointer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace gr::platform::frame_pointer_test {

std::uintptr_t address_of(const void *what) { return reinterpret_cast<std::uintptr_t>(what); }

// In this program, behind a call.
[[gnu::noinline]] std::uintptr_t behind_call() { return address_of(__builtin_return_address(0)); }

// Lies in this program, and in no code behind a call.
constinit std::array<char, 64> nothing{};

class FramePointer : public testing::Test {
  protected:
    FramePointer() { record_ = {address_of(&record_[2]), behind_call()}; }
    ~FramePointer() override { ::munmap(made_, kBytes); }

    // A frame below the record that its frame pointer points to.
    Frame frame(std::uintptr_t code) const { return {code, address_of(&record_[0]) - 64, address_of(&record_[0])}; }
    std::uintptr_t made(std::size_t at) const { return address_of(made_) + at; }

    static constexpr std::size_t kBytes = std::size_t{1} << 29;  // more than the code of one program takes
    static constexpr std::size_t kLast = kBytes - 4096;
    // Its end is as near to this program as the code that a program makes may be to its files.
    static void *near_program() {
        constexpr std::uintptr_t kPages = 4096 - 1;
        constexpr std::uintptr_t kApart = std::uintptr_t{1} << 26;
        return reinterpret_cast<void *>((address_of(&nothing) - kApart - kBytes) & ~kPages);
    }
    std::array<std::uintptr_t, 4> record_{};  // the caller's frame pointer and code, and what lies above
    // Zeroes: nothing in it lies behind a call.
    void *made_ = ::mmap(near_program(), kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
};

TEST_F(FramePointer, LeadsBehindACall) {
    Frame at = frame(made(64));
    ASSERT_TRUE(step_by_frame_pointer(&at));
    EXPECT_EQ(at.code, record_[1]);
    EXPECT_EQ(at.stack, address_of(&record_[2]));
    EXPECT_EQ(at.frame_pointer, record_[0]);
}

TEST_F(FramePointer, LeadsFromMadeCodeToMadeCodeBehindNoCall) {
    record_[1] = made(1024);
    Frame at = frame(made(64));
    ASSERT_TRUE(step_by_frame_pointer(&at));
    EXPECT_EQ(at.code, made(1024));
}

TEST_F(FramePointer, LeadsNowhereElse) {
    const auto leads = [&](std::uintptr_t from, std::uintptr_t code, std::uintptr_t pointer) {
        record_ = {pointer, code};
        Frame at = frame(from);
        return step_by_frame_pointer(&at);
    };
    const std::uintptr_t above = address_of(&record_[2]);
    const std::uintptr_t in_file = address_of(&nothing[nothing.size() / 2]);
    EXPECT_TRUE(leads(made(64), made(kLast / 4), above));
    EXPECT_FALSE(leads(in_file, made(kLast), above)) << "from a file to what may be no code";
    EXPECT_FALSE(leads(made(kLast), in_file, above)) << "to a file, where each step leads behind a call";
    EXPECT_FALSE(leads(made(64), made(1024), address_of(&record_[0]))) << "the caller's frame is not further out";
    EXPECT_FALSE(leads(made(64), made(1024), above + (std::uintptr_t{1} << 30))) << "the caller's frame is too far out";
    EXPECT_FALSE(leads(made(64), made(kLast), above)) << "too far from the code";
    ASSERT_EQ(::mprotect(reinterpret_cast<void *>(made(4096)), 4096, PROT_NONE), 0);
    EXPECT_FALSE(leads(made(64), made(4096 + 64), above)) << "not readable";
}

// Go's stacks lie far below those of threads.
TEST_F(FramePointer, LeadsToAStackFarBelowWithinOneFile) {
    const std::uintptr_t far_above = address_of(&record_[0]) + (std::uintptr_t{1} << 40);
    Frame at{behind_call(), far_above, address_of(&record_[0])};
    ASSERT_TRUE(step_by_frame_pointer(&at));
    EXPECT_EQ(at.code, record_[1]);
    EXPECT_EQ(at.stack, address_of(&record_[2]));
    at = {address_of(reinterpret_cast<const void *>(&std::abort)), far_above, address_of(&record_[0])};
    EXPECT_FALSE(step_by_frame_pointer(&at)) << "from another file";
    at = {made(64), far_above, address_of(&record_[0])};
    EXPECT_FALSE(step_by_frame_pointer(&at)) << "from no file";
    at = {behind_call(), address_of(&record_[0]) + (std::uintptr_t{1} << 30), address_of(&record_[0])};
    EXPECT_FALSE(step_by_frame_pointer(&at)) << "not far enough";
    at = {behind_call(), address_of(&record_[0]) - (std::uintptr_t{1} << 37), address_of(&record_[0])};
    EXPECT_FALSE(step_by_frame_pointer(&at)) << "far above";
}

}  // namespace gr::platform::frame_pointer_test
