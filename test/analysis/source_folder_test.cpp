// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which source files a folder gives, by names that a trace chose.
// Invariant: each file that must not be read lies there, and could be read.
// Must not know: reports.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "analysis/history.hpp"
#include "base/failure.hpp"
#include "reading/symbols/source_folder.hpp"
#include "reporting/charts/source_lines.hpp"

namespace gr::tool::source_folder_test {

namespace fs = std::filesystem;

class SourceFolderTest : public testing::Test {
  protected:
    static void write(const std::string &path, const std::string &text) {
        fs::create_directories(fs::path(path).parent_path());
        std::ofstream(path) << text;
    }
    [[nodiscard]] std::string in(const std::string &name) const { return root_ + "/" + name; }
    static std::string first_line(SourceFolder &folder, const std::string &name) {
        const SourceFolder::File *const file = folder.file(name);
        return file == nullptr ? "(none)" : file->lines.at(0);
    }

    Folder temporary_;
    std::string root_ = temporary_.file("project");
};

TEST_F(SourceFolderTest, FilesWhereTheirNamesSay) {
    write(in("src/a.cpp"), "int a;\n\tint b;\r\n");
    SourceFolder folder(root_);
    EXPECT_EQ(first_line(folder, in("src/a.cpp")), "int a;");
    EXPECT_EQ(folder.file(in("src/a.cpp"))->lines.at(1), "    int b;");
    EXPECT_EQ(first_line(folder, "src/a.cpp"), "int a;");
    EXPECT_EQ(first_line(folder, in("src/../src/a.cpp")), "int a;");
    EXPECT_TRUE(folder.has(in("src/a.cpp")));
    EXPECT_FALSE(folder.has(in("src/b.cpp")));
}

TEST_F(SourceFolderTest, FilesOfAnotherMachineByTheirLastParts) {
    write(in("src/a.cpp"), "int a;\n");
    write(in("top.cpp"), "int top;\n");
    SourceFolder folder(root_);
    EXPECT_EQ(first_line(folder, "/build/project-1.2/src/a.cpp"), "int a;");
    EXPECT_FALSE(folder.has("/build/project-1.2/src/a.cpp"));
    EXPECT_EQ(first_line(folder, "/elsewhere/top.cpp"), "(none)");  // a name alone may be any file's
}

TEST_F(SourceFolderTest, NothingElseIsRead) {
    write(temporary_.file("outside.c"), "secret\n");
    write(in("passwords"), "secret\n");
    write(in("passwords.txt"), "secret\n");
    write(in(".hidden.c"), "secret\n");
    write(in(".git/a.c"), "secret\n");
    fs::create_symlink(temporary_.file("outside.c"), in("link.c"));
    fs::create_symlink(in("passwords"), in("named.c"));
    fs::create_directories(in("folder.c"));
    ASSERT_EQ(::mkfifo(in("pipe.c").c_str(), 0600), 0);
    SourceFolder folder(root_);
    for (const char *const name : {"passwords", "passwords.txt", ".hidden.c", ".git/a.c", "link.c", "named.c",
                                   "folder.c", "pipe.c", "../outside.c", "src/../../outside.c", "", "/"}) {
        EXPECT_EQ(first_line(folder, name), "(none)") << name;
        EXPECT_EQ(first_line(folder, in(name)), "(none)") << name;
        EXPECT_FALSE(folder.has(in(name))) << name;
    }
    EXPECT_EQ(first_line(folder, temporary_.file("outside.c")), "(none)");
    EXPECT_EQ(first_line(folder, "/etc/passwd"), "(none)");
}

TEST_F(SourceFolderTest, ALineIsFitToBeShown) {
    write(in("a.c"), "\x1b[31m\n" + std::string(SourceFolder::kMostLetters - 1, 'x') + "ää\n");
    SourceFolder folder(root_);
    EXPECT_EQ(first_line(folder, "a.c"), "\\x1b[31m");
    EXPECT_EQ(folder.file("a.c")->lines.at(1), std::string(SourceFolder::kMostLetters - 1, 'x') + "…");
}

TEST_F(SourceFolderTest, WithoutAFolderOneLineSaysSo) {
    EXPECT_THROW(SourceFolder(in("nowhere")), Failure);
    write(in("file"), "");
    EXPECT_THROW(SourceFolder(in("file")), Failure);
}

TEST_F(SourceFolderTest, LinesAroundEachCall) {
    std::string text;
    for (int line = 1; line <= 30; ++line) text += "line " + std::to_string(line) + "\n";
    write(in("a.c"), text);
    SourceLines sources(root_);
    Frame frame{"f", in("a.c"), 0, "program"};
    sources.add_to(&frame, {1, 4, 20, 99});
    std::string found;
    for (const Frame::SourceLine &line : frame.source)
        found += (line.calls ? "*" : "") + std::to_string(line.line) + " ";
    EXPECT_EQ(found, "*1 2 3 *4 5 6 18 19 *20 21 22 ");
    EXPECT_EQ(frame.source.front().text, "line 1");
    Frame other{"g", "/etc/passwd", 0, "program"};
    sources.add_to(&other, {1});
    EXPECT_TRUE(other.source.empty());
    // Of the files that changed after the recording it is said.
    EXPECT_EQ(sources.notes(0).size(), 2U);
    EXPECT_EQ(sources.notes(INT64_MAX / 4).size(), 1U);
}

TEST_F(SourceFolderTest, ThePageStaysSmall) {
    constexpr int kFunctions = 1000;
    std::string text;
    for (int line = 0; line < kFunctions * 10; ++line) text += std::string(SourceFolder::kMostLetters, 'x') + "\n";
    write(in("a.c"), text);
    SourceLines sources(root_);
    std::size_t bytes = 0;
    for (int function = 0; function < kFunctions; ++function) {
        Frame frame{"f", in("a.c"), 0, "program"};
        sources.add_to(&frame, {function * 10 + 5});
        for (const Frame::SourceLine &line : frame.source) bytes += line.text.size();
    }
    EXPECT_LE(bytes, SourceLines::kMostBytes);
    EXPECT_GT(bytes, SourceLines::kMostBytes / 2);
    EXPECT_NE(sources.notes(INT64_MAX / 4).back().find("functions are left out"), std::string::npos);
}

}  // namespace gr::tool::source_folder_test
