// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: limits of control groups, read from trees of files made here as the kernel would show them.
// Invariant: what cannot be read or is no number is no limit, never a smaller one.
// Must not know: the groups of the machine that runs this, but that asking about them works.
#include "platform/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gr::platform::cgroup_test {

class Cgroup : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directories(root_); }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string &path, const std::string &text) {
        const std::filesystem::path file = root_ + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::size_t limit(const std::string &membership) {
        write("/membership", membership);
        return cgroup_memory_limit((root_ + "/membership").c_str(), root_.c_str());
    }

    std::string root_ = testing::TempDir() + "cgroup_test." + std::to_string(getpid());
};

TEST_F(Cgroup, VersionTwo) {
    write("/a/b/memory.max", "1073741824\n");
    EXPECT_EQ(limit("0::/a/b\n"), 1073741824U);
}

TEST_F(Cgroup, VersionOneAmongOtherHierarchies) {
    write("/memory/a/memory.limit_in_bytes", "536870912\n");
    write("/a/memory.max", "1\n");
    EXPECT_EQ(limit("9:name=systemd:/x\n4:cpu,memory:/a\n3:cpuset:/a\n"), 536870912U);
}

TEST_F(Cgroup, TheLeastOfAllGroupsAround) {
    write("/memory.max", "900\n");
    write("/a/memory.max", "max\n");
    write("/a/b/memory.max", "500\n");
    write("/a/b/c/memory.max", "700\n");
    EXPECT_EQ(limit("0::/a/b/c\n"), 500U);
    EXPECT_EQ(limit("0::/a\n"), 900U);
}

TEST_F(Cgroup, AGroupThatCannotBeSeenIsItsHierarchysRoot) {
    write("/memory.max", "4096\n");
    EXPECT_EQ(limit("0::/elsewhere/in/another/namespace\n"), 4096U);
    EXPECT_EQ(limit("0::/\n"), 4096U);
    EXPECT_EQ(limit("0::/" + std::string(5000, 'x') + "\n"), 4096U);
}

TEST_F(Cgroup, BothVersionsAtOnce) {
    write("/memory/a/memory.limit_in_bytes", "300\n");
    write("/b/memory.max", "200\n");
    EXPECT_EQ(limit("2:memory:/a\n0::/b\n"), 200U);
}

TEST_F(Cgroup, WhatIsNoNumberIsNoLimit) {
    for (const char *text : {"max\n", "", "\n", "-1\n", "99999999999999999999999\n"}) {
        write("/a/memory.max", text);
        EXPECT_EQ(limit("0::/a\n"), kNoMemoryLimit) << text;
    }
    write("/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(limit("4:memory:/a\n"), kNoMemoryLimit);
    EXPECT_EQ(limit("4:memory_recursive:/a\n3:mem:/a\n"), kNoMemoryLimit);
    for (const char *text : {"", "\n", "0\n", "0:", "::", "nonsense"}) EXPECT_EQ(limit(text), kNoMemoryLimit) << text;
    EXPECT_EQ(cgroup_memory_limit("/nowhere", root_.c_str()), kNoMemoryLimit);
}

TEST_F(Cgroup, TheMachinesOwnCanBeAsked) { EXPECT_GT(cgroup_memory_limit(), 0U); }

}  // namespace gr::platform::cgroup_test
