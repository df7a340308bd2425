// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: names in a trace: what was written is read, a copy keeps everything else, and no table that contradicts itself is
//    believed.
// Invariant: the files are made here, in a folder that goes with them.
// Must not know: where names come from.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "crafted_trace.hpp"
#include "reading/trace/mapped_file.hpp"
#include "reading/trace/named_copy.hpp"
#include "reading/trace/reader.hpp"
#include "reading/trace/writer.hpp"

namespace gr::trace::symbols_test {

namespace fs = std::filesystem;

class NamesTest : public testing::Test {
  protected:
    NamesTest() { fs::create_directory(folder_); }
    ~NamesTest() override { fs::remove_all(folder_); }

    void write(const std::vector<NamedPlace> &places, bool has_end = true) const {
        Writer writer(path_);
        Start start;
        start.program = "/bin/program";
        writer.start(start);
        writer.modules({Time{3}, {{0x1000, 0x3000, 0x100, "/bin/program", "abcd"}}});
        writer.stacks(std::vector<StackNode>{{StackNumber::none, 0x1500}});
        writer.names(places);
        if (has_end) writer.end(End());
    }
    // As places are written.
    static std::vector<std::string> lines_of(const Trace &trace) {
        const Symbols &symbols = trace.symbols();
        std::vector<std::string> lines;
        for (const Symbols::Place &place : symbols.places) {
            const Symbols::File &file = symbols.files.at(place.file);
            std::string line = symbols.texts.at(file.path) + " " + symbols.texts.at(file.build_id) + " " +
                               std::to_string(place.offset);
            for (std::uint32_t i = 0; i < place.calls; ++i) {
                const Symbols::Call &call = symbols.calls.at(place.first_call + i);
                line += " " + symbols.texts.at(call.function) + " " + symbols.texts.at(call.file) + ":" +
                        std::to_string(call.line);
            }
            lines.push_back(line);
        }
        return lines;
    }
    // What is said of the trace after something was changed in its chunk of names, checksums and all.
    std::string damage_after(const std::function<void(CraftedChunk *)> &change) const {
        write(kPlaces);
        Bytes bytes;
        {
            const MappedFile file(path_);
            CraftedTrace crafted(file.bytes());
            for (CraftedChunk &chunk : crafted.chunks) {
                if (chunk.kind == ChunkKind::symbols) change(&chunk);
            }
            bytes = crafted.bytes();
        }
        std::ofstream(path_, std::ios::binary | std::ios::trunc)
            .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        const Trace trace(path_);
        if (!trace.damage().empty()) {
            EXPECT_TRUE(trace.symbols().places.empty()) << "half a table is none";
        }
        return trace.damage();
    }

    inline static const std::vector<NamedPlace> kPlaces = {
        {"/bin/program", "abcd", 0x500, {{"main", "a.c", 3}, {"inner", "b.h", 7}}},
        {"/bin/program", "abcd", 0x400, {{"main", "a.c", 9}}},
        {"/lib/libc.so.6", "", ~std::uint64_t{0}, {{"malloc", "", 0}}}};

    fs::path folder_ = fs::temp_directory_path() / ("symbols_test." + std::to_string(::getpid()));
    std::string path_ = (folder_ / "one").string();
    std::string copy_ = (folder_ / "two").string();
};

TEST_F(NamesTest, AreReadAsTheyWereWritten) {
    write(kPlaces);
    const Trace trace(path_);
    EXPECT_EQ(trace.damage(), "");
    EXPECT_EQ(lines_of(trace), (std::vector<std::string>{"/bin/program abcd 1280 main a.c:3 inner b.h:7",
                                                         "/bin/program abcd 1024 main a.c:9",
                                                         "/lib/libc.so.6  18446744073709551615 malloc :0"}));
}

TEST_F(NamesTest, MayBeMany) {
    std::vector<NamedPlace> places;
    constexpr std::uint64_t kMany = 100'000;
    for (std::uint64_t i = 0; i < kMany; ++i)
        places.push_back({"/bin/program", "abcd", i * 5, {{"function" + std::to_string(i), "a.c", 1}}});
    write(places);
    const Trace trace(path_);
    EXPECT_EQ(trace.damage(), "");
    ASSERT_EQ(trace.symbols().places.size(), kMany);
    EXPECT_EQ(lines_of(trace).back(), "/bin/program abcd 499995 function99999 a.c:1");
}

TEST_F(NamesTest, OfAnyLengthCanBeReadAgain) {
    NamedPlace deep{"/bin/program", "abcd", 1, {}};
    constexpr std::size_t kDeep = 1000;
    for (std::size_t i = 0; i < kDeep; ++i)
        deep.calls.push_back({std::string(10'000, 'f') + std::to_string(i), "a.c", 1});
    write({deep, deep, deep});
    const Trace trace(path_);
    EXPECT_EQ(trace.damage(), "");
    EXPECT_EQ(trace.symbols().places.size(), 3U);
    EXPECT_EQ(trace.symbols().places.front().calls, kMostCallsOfPlace);
}

TEST_F(NamesTest, ReplaceThoseOfTheCopiedTrace) {
    for (const bool has_end : {true, false}) {
        write(kPlaces, has_end);
        const Trace trace(path_);
        const std::vector<NamedPlace> others = {{"/bin/program", "abcd", 0x500, {{"other", "c.c", 1}}}};
        write_named(trace, others, copy_);
        const Trace copy(copy_);
        EXPECT_EQ(copy.damage().empty(), has_end);
        EXPECT_EQ(lines_of(copy), std::vector<std::string>{"/bin/program abcd 1280 other c.c:1"});
        EXPECT_EQ(copy.stacks().size(), 2U);
        EXPECT_EQ(copy.end().has_value(), has_end);
        EXPECT_EQ(fs::status(copy_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    }
    write(kPlaces);
    write_named(Trace(path_), kPlaces, path_);  // in place
    EXPECT_EQ(lines_of(Trace(path_)).size(), kPlaces.size());
}

TEST_F(NamesTest, ThatContradictThemselvesAreDamage) {
    const auto summary_with = [](std::size_t field, std::uint32_t number) {
        return [=](CraftedChunk *chunk) {
            std::memcpy(chunk->summary.data() + field * sizeof number, &number, sizeof number);
        };
    };
    const auto column_with = [](SymbolColumn column, std::size_t at, std::uint8_t byte) {
        return [=](CraftedChunk *chunk) { chunk->columns.at(number_of(column)).at(at) = byte; };
    };
    EXPECT_EQ(damage_after([](CraftedChunk *) {}), "");
    for (std::size_t field = 0; field < 4; ++field) {
        for (const std::uint32_t number : {0U, 1U, 100U, 1U << 17, ~0U})
            EXPECT_NE(damage_after(summary_with(field, number)), "") << field << " " << number;
    }
    EXPECT_NE(damage_after(column_with(SymbolColumn::files, 0, 100)), "") << "a text that is not there";
    EXPECT_NE(damage_after(column_with(SymbolColumn::places, 0, 7)), "") << "a file that is not there";
    EXPECT_NE(damage_after(column_with(SymbolColumn::places, 3, 0)), "") << "no calls";
    EXPECT_NE(damage_after(column_with(SymbolColumn::calls, 0, 100)), "") << "a text that is not there";
    EXPECT_NE(damage_after([](CraftedChunk *chunk) { chunk->columns.at(number_of(SymbolColumn::texts)).pop_back(); }),
              "")
        << "a text without an end";
    EXPECT_NE(damage_after([](CraftedChunk *chunk) { chunk->summary.pop_back(); }), "");
}

}  // namespace gr::trace::symbols_test
