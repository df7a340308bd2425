// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: prints what a program's file says of addresses of its code. Usage: FILE < ADDRESSES (hexadecimal, one a line).
// Invariant: for each address a line "ADDRESS", then a line "FUNCTION<tab>FILE<tab>LINE" for each function whose code lies
//    there, the outermost first.
// Must not know: who compares.
#include <fmt/format.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "reading/process/code_places.hpp"
#include "reading/process/elf_file.hpp"
#include "reading/symbols/function_name.hpp"

int main(int count, char **words) {
    if (count != 2) return 2;
    // Any: as if the loader had moved the file there.
    constexpr std::uint64_t kMoved = std::uint64_t{1} << 32;
    const std::uint64_t base = gr::tool::ElfFile(words[1]).type() == ET_EXEC ? 0 : kMoved;
    gr::tool::CodePlaces places({{base, base, base + kMoved, "", words[1]}});
    for (std::string line; std::getline(std::cin, line);) {
        const std::uint64_t address = std::stoull(line, nullptr, 16);
        fmt::print("{:x}\n", address);
        for (const gr::tool::CodePlace &place : places.all_of_call(base + address + 1))
            fmt::print("{}\t{}\t{}\n", gr::tool::demangled(place.function), place.file, place.line);
    }
    return 0;
}
