// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/loaded_libraries.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "reading/process/command_output.hpp"

namespace gr::tool {

namespace {

// The listing must be of the program's own libraries; a preload or an audit of this moment is not among them.
std::vector<std::string> listing_environment() {
    static constexpr std::array<std::string_view, 4> kLeftOut{"LD_PRELOAD=", "LD_AUDIT=", "LD_DEBUG", "LD_TRACE_"};
    std::vector<std::string> result;
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        bool keep = true;
        for (const std::string_view name : kLeftOut) keep = keep && !text.starts_with(name);
        if (keep) result.emplace_back(text);
    }
    result.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
    return result;
}

// One of  "\tlibm.so.6 => /lib/libm.so.6 (0x7f...)", "\tlibx.so => not found", "\t/lib/ld.so (0x7f...)".
LoadedLibrary parse_line(std::string_view line) {
    constexpr std::string_view kArrow = " => ";
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t arrow = line.find(kArrow);
    std::string_view place = arrow == std::string_view::npos ? line : line.substr(arrow + kArrow.size());
    const std::size_t address = place.rfind(" (0x");
    if (address == std::string_view::npos) return {std::string(line.substr(0, arrow)), {}};
    place = place.substr(0, address);
    return {std::string(arrow == std::string_view::npos ? place : line.substr(0, arrow)), std::string(place)};
}

}  // namespace

// Of what the kernel mapped, for the file is large: an address limit may not have room for it.
std::string own_loader() {
    std::string loader;
    ::dl_iterate_phdr(
        [](dl_phdr_info *program, std::size_t, void *found) {
            for (const ElfW(Phdr) & segment : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
                if (segment.p_type != PT_INTERP) continue;
                // NOLINTNEXTLINE(performance-no-int-to-ptr): where the loader says it is
                *static_cast<std::string *>(found) =
                    reinterpret_cast<const char *>(program->dlpi_addr + segment.p_vaddr);
            }
            return 1;  // the program is the first
        },
        &loader);
    return loader;
}

std::optional<std::vector<LoadedLibrary>> loaded_libraries(const std::string &program) {
    // Only glibc's loader keeps to the listing mode; another one would run the program.
    const std::string loader = own_loader();
    if (!std::string_view(loader).substr(loader.find_last_of('/') + 1).starts_with("ld-linux")) return std::nullopt;
    // Without links, as $ORIGIN will be; and with a slash, so that the loader does not search for it.
    std::error_code error;
    const std::string path = std::filesystem::canonical(program, error).string();
    if (error) return std::nullopt;
    const std::optional<std::string> listing = output_of({loader, path}, listing_environment(), STDOUT_FILENO);
    if (!listing) return std::nullopt;
    std::vector<LoadedLibrary> result;
    for (std::size_t start = 0; start < listing->size();) {
        const std::size_t end = std::min(listing->find('\n', start), listing->size());
        const std::string_view line(listing->data() + start, end - start);
        if (line.starts_with('\t') && !line.starts_with("\tlinux-vdso")) result.push_back(parse_line(line));
        start = end + 1;
    }
    return result;
}

}  // namespace gr::tool
