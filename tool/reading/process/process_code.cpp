// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: process_code.hpp, from /proc/PID/maps and the headers of the files.
// Invariant: as there.
// Must not know: why it is asked.
#include "reading/process/process_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::string path;
};

// "7f00-7f10 r-xp 00000000 fe:00 247026   /path with blanks"; false: no code of a file.
bool parse(const std::string &line, Piece *piece) {
    std::array<char, 5> rights{};
    int path = 0;
    const int fields = std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*x:%*x %*u %n", &piece->begin, &piece->end,
                                   rights.data(), &piece->offset, &path);
    if (fields != 4 || path == 0 || rights[2] != 'x') return false;
    piece->path = line.substr(static_cast<std::size_t>(path));
    return piece->path.starts_with('/');
}

// What is added to the addresses that the file tells. One that cannot be read tells none.
std::uint64_t bias_of(const Piece &piece) {
    try {
        const ElfFile file(piece.path);
        if (const auto address = file.address_of_code(piece.offset, piece.end - piece.begin))
            return piece.begin - *address;
    } catch (const std::system_error &) {
        return piece.begin - piece.offset;
    }
    return piece.begin - piece.offset;
}

}  // namespace

std::vector<CodeModule> loaded_code(int process) {
    std::map<std::pair<std::string, std::uint64_t>, CodeModule> files;
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(maps, line);) {
        Piece piece;
        if (!parse(line, &piece)) continue;
        const std::uint64_t bias = bias_of(piece);
        const auto [at, is_new] = files.try_emplace({piece.path, bias});
        CodeModule &module = at->second;
        if (is_new) module = {bias, piece.begin, piece.end, "", piece.path};
        module.begin = std::min(module.begin, piece.begin);
        module.end = std::max(module.end, piece.end);
    }
    std::vector<CodeModule> all;
    all.reserve(files.size());
    for (auto &[key, module] : files) all.push_back(std::move(module));
    return all;
}

}  // namespace gr::tool
