// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: names of functions without the arguments of templates, where that still tells the functions apart.
// Invariant: two functions that were added have different names.
// Must not know: where the names are shown.
#pragma once

#include <string>
#include <unordered_map>

#include "reading/symbols/function_name.hpp"

namespace gr::tool {

class BriefNames {
  public:
    void add(const std::string &function) { add(function, brief(function)); }
    // With its brief name, which is known already.
    void add(const std::string &function, const std::string &brief_name) {
        const auto [at, is_new] = functions_.try_emplace(brief_name, function);
        if (!is_new && at->second != function) at->second.clear();
    }
    [[nodiscard]] bool is_empty() const { return functions_.empty(); }

    // Whether no other function that was added has that brief name.
    [[nodiscard]] bool is_unique(const std::string &brief_name) const {
        const auto at = functions_.find(brief_name);
        return at != functions_.end() && !at->second.empty();
    }
    [[nodiscard]] std::string name_of(const std::string &function) const {
        std::string brief_name = brief(function);
        return is_unique(brief_name) ? brief_name : function;
    }

  private:
    std::unordered_map<std::string, std::string> functions_;  // by brief name; empty: there are several
};

}  // namespace gr::tool
