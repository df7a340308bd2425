// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the modules that another process has mapped, and the functions that they define, as its memory shows them.
// Invariant: no file is opened, so that a module whose file was replaced or lies elsewhere for this command is read, too.
//    What is broken reads as absent.
// Must not know: what the functions are wanted for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reading/process/process_memory.hpp"

namespace gr::tool {

struct CodeRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

struct ProcessModule {
    std::string path;
    std::string name;         // of the file, without folders
    std::uint64_t begin = 0;  // where the file's begin is mapped
    std::vector<CodeRange> code;
};

class ProcessModules {
  public:
    // As they are now. Throws Failure where the process is gone.
    explicit ProcessModules(const ProcessMemory &memory);

    [[nodiscard]] const std::vector<ProcessModule> &all() const { return modules_; }
    [[nodiscard]] const ProcessModule *named(std::string_view name) const;
    // The module whose code lies there.
    [[nodiscard]] const ProcessModule *at(std::uint64_t address) const;
    // Where the module's function of that name begins.
    [[nodiscard]] std::optional<std::uint64_t> function(const ProcessModule &module, const char *name) const;
    // Where these bytes stand first in the module's code.
    [[nodiscard]] std::optional<std::uint64_t> find_code(const ProcessModule &module, std::string_view bytes) const;
    // Where the first mapping lies whose name contains this.
    [[nodiscard]] std::optional<std::uint64_t> mapping_named(std::string_view name) const;

  private:
    struct Tables {
        std::uint64_t base = 0;
        std::uint64_t symbols = 0;
        std::uint64_t strings = 0;
        std::uint64_t hash = 0;
    };
    [[nodiscard]] std::optional<Tables> tables_of(const ProcessModule &module) const;
    [[nodiscard]] bool is_named(std::uint64_t address, std::string_view name) const;
    template <class T>
    [[nodiscard]] bool read(std::uint64_t address, T *to) const {
        return memory_.read(address, to, sizeof *to);
    }

    const ProcessMemory &memory_;
    std::vector<ProcessModule> modules_;
    std::vector<std::pair<std::string, std::uint64_t>> others_;  // mappings by name
};

}  // namespace gr::tool
