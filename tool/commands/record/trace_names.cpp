// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/trace_names.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace gr::tool {

std::string TraceNames::of(const std::string &program, std::uint32_t process) {
    namespace fs = std::filesystem;
    const fs::path model = file_.empty() ? "granary.trace" : file_;
    const fs::path folder = model.parent_path();
    const std::string name = program.empty() ? "program" : fs::path(program).filename().string();
    const std::string stem = fmt::format("{}.{}.{}", model.stem().string(), name, process);
    for (unsigned attempt = 1;; ++attempt) {
        const std::string number = attempt == 1 ? "" : fmt::format(".{}", attempt);
        std::string path = (folder / (stem + number + model.extension().string())).string();
        if (given_.insert(path).second) return path;
    }
}

}  // namespace gr::tool
