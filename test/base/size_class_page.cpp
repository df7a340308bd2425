// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table of docs/design/size-classes.md, made of the library's own; with that file's name, whether it has it.
// Invariant: a row for each class, in order.
// Must not know: what the page says around it.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "base/size_class.hpp"

namespace {

std::string table() {
    std::ostringstream out;
    out << "| block, bytes | superblock, KiB | blocks | tail, bytes | in a magazine at most |\n|--:|--:|--:|--:|--:|\n";
    for (std::uint32_t c = 1; c < gr::kClassCount; ++c) {
        const gr::ClassShape &shape = gr::shape_of(gr::ClassIndex(c));
        out << "| " << shape.size << " | " << shape.bytes() / gr::kKiB << " | " << shape.blocks << " | "
            << shape.bytes() - std::size_t{shape.blocks} * shape.size << " | " << shape.magazine_slots << " |\n";
    }
    return out.str();
}

}  // namespace

int main(int words, char **word) {
    if (words == 1) {
        std::cout << table();
        return 0;
    }
    std::ostringstream page;
    page << std::ifstream(word[1]).rdbuf();
    if (page.str().find("\n" + table() + "\n") != std::string::npos) return 0;
    std::cerr << word[1] << ": its table is not the library's; put there what " << word[0] << " prints\n";
    return 1;
}
