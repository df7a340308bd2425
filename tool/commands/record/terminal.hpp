// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the recorder says on stderr: complaints, and a line that changes while it goes on.
// Invariant: that line is there only where stderr is a terminal, and is gone before anything else is said.
// Must not know: what is recorded.
#pragma once

#include <mutex>
#include <string_view>

namespace gr::tool {

class Terminal {
  public:
    // Quiet: complaints only.
    explicit Terminal(bool quiet);

    [[nodiscard]] bool shows_progress() const { return shows_progress_; }
    void show_progress(std::string_view line);
    void note(std::string_view line);
    void complain(std::string_view line);
    // Whole lines, as they are.
    void list(std::string_view lines);

  private:
    void clear();

    std::mutex mutex_;
    bool quiet_;
    bool shows_progress_;
    bool is_shown_ = false;
};

}  // namespace gr::tool
