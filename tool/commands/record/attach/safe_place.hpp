// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether a stopped thread may call the loader where it stands: it holds no lock of the loader's or the
//    allocator's, and does not stand between two steps of either.
// Invariant: a doubt is a no.
// Must not know: what is to be called.
#pragma once

#include <vector>

#include "commands/record/attach/process_modules.hpp"
#include "commands/record/attach/stopped_thread.hpp"

namespace gr::tool {

class SafePlaces {
  public:
    SafePlaces(int process, const ProcessModules &modules);

    [[nodiscard]] bool has(const StoppedThread &thread) const;

  private:
    [[nodiscard]] bool is_own_code(std::uint64_t address) const;
    [[nodiscard]] bool is_in_harmless_call(const StoppedThread &thread) const;
    [[nodiscard]] bool waits_for_no_lock(const StoppedThread &thread) const;
    [[nodiscard]] bool sleeps_long(const StoppedThread &thread, unsigned argument) const;
    [[nodiscard]] bool is_talk(std::uint64_t file) const;
    [[nodiscard]] bool has_interrupted_others(const StoppedThread &thread) const;

    int process_;
    const ProcessModules &modules_;
    std::vector<const ProcessModule *> allocators_;  // but libc's
    std::vector<const ProcessModule *> recorders_;   // the recorder's library, from earlier times
    const ProcessModule *libc_;
    const ProcessModule *loader_;
    std::uint64_t signal_return_ = 0;
};

[[nodiscard]] bool is_loader(const ProcessModule &module);

}  // namespace gr::tool
