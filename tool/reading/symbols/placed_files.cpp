// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/symbols/placed_files.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "reading/process/elf_file.hpp"

namespace gr::tool {

namespace {

// Further than any file is long, and beyond the addresses of programs.
constexpr std::uint64_t kPlaceStep = std::uint64_t{1} << 40;

// What is added to the addresses that the file tells, which is asked for once for each part of it.
class Biases {
  public:
    explicit Biases(std::uint64_t page_bytes) : page_bytes_(page_bytes) {}

    [[nodiscard]] std::uint64_t of(const trace::Module &piece, const std::string &path) {
        const std::uint64_t bytes = piece.end - piece.begin;
        const auto [at, is_new] = told_.try_emplace({path, piece.offset, bytes}, piece.offset);
        if (is_new) at->second = address_of(piece, path);
        return piece.begin - at->second;
    }

  private:
    // A file that cannot be read tells none. One of debug information alone has lost where its segments lay in the file, so
    // its only segment of code is taken for the mapped one.
    [[nodiscard]] std::uint64_t address_of(const trace::Module &piece, const std::string &path) const {
        try {
            const ElfFile file(path);
            if (const auto address = file.address_of_code(piece.offset, piece.end - piece.begin)) return *address;
            if (const auto address = file.address_of_only_code()) return *address / page_bytes_ * page_bytes_;
        } catch (const std::system_error &) {
            return piece.offset;
        }
        return piece.offset;
    }

    std::uint64_t page_bytes_;
    std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::uint64_t> told_;
};

}  // namespace

PlacedFiles::PlacedFiles(const std::vector<trace::Module> &pieces, ModuleFiles *found, std::uint64_t page_bytes)
    : moved_by_(pieces.size()) {
    Biases biases(page_bytes);
    std::map<std::pair<std::string, std::string>, std::size_t> places;  // by path and build id
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const trace::Module &piece = pieces[i];
        const std::string &path = found->of(piece).path;
        if (path.empty()) continue;
        const std::uint64_t bias = biases.of(piece, path);
        const auto [at, is_new] = places.try_emplace({path, piece.build_id}, modules_.size());
        if (is_new) {
            const std::uint64_t base = bias == 0 ? 0 : trace::kFirstStandIn + kPlaceStep * modules_.size();
            modules_.push_back({base, UINT64_MAX, 0, piece.build_id, path});
        }
        CodeModule &module = modules_[at->second];
        moved_by_[i] = module.base - bias;
        module.begin = std::min(module.begin, piece.begin + moved_by_[i]);
        module.end = std::max(module.end, piece.end + moved_by_[i]);
    }
}

}  // namespace gr::tool
