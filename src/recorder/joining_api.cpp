// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what `granary record --pid` calls in a process that ran before: the recording begins and ends.
// Invariant: as include/granary/wire/recording.h says. A call that fails changes nothing in the other modules.
// Must not know: how the process was made to call this.
#include <sys/syscall.h>

#include "base/text.hpp"
#include "granary/granary.h"
#include "granary/wire/recording.h"
#include "platform/syscall.hpp"
#include "recorder/calls.hpp"
#include "recorder/rebound.hpp"

namespace {

bool is_recorded() { return gr::attached.word.load(std::memory_order_acquire) >= gr::kFirstArrival; }

bool map_file(int file) {
    gr::TextBuffer<64> path;
    path << "/proc/self/fd/" << static_cast<unsigned>(file) << '\0';
    return gr::recording.map(path.data()) && (gr::recording.control().stack_bytes == 0 || gr::stack_walk.initialise());
}

// Whether the program's calls lead to this library anyway.
bool is_preloaded() {
    const gr::platform::LoadedObject own(reinterpret_cast<const void *>(&is_recorded));
    return own.contains(gr::platform::definition_of("malloc", {}).function);
}

// Nobody reads what is written any more.
void end_recording() {
    gr::attachment.end();
    gr::recording.give_up();
}

int attach(int file) {
    if (is_recorded() && gr::recording.recorder_lives()) return GR_ATTACH_RECORDED;
    end_recording();
    const bool needs_rebinding = !is_preloaded();
    if (needs_rebinding && !gr::rebound.find()) return GR_ATTACH_NO_MALLOC;
    if (!map_file(file)) return GR_ATTACH_NO_MEMORY;
    // Nothing is recorded before all calls lead here: else a block would be seen to come and not to go.
    if (needs_rebinding) gr::rebound.begin();
    gr::Attachment::begin_anew();
    { const gr::Call arrives(nullptr); }
    if (is_recorded()) return 0;
    gr::rebound.undo();
    end_recording();
    return GR_ATTACH_REFUSED;
}

}  // namespace

extern "C" {

// Of recording.h. NOLINTBEGIN(misc-use-internal-linkage)
GR_EXPORT int gr_record_attach(int file) {
    const int result = attach(file);
    gr::platform::system_call(SYS_close, file);
    return result;
}

GR_EXPORT int gr_record_detach() {
    if (!is_recorded()) return GR_ATTACH_REFUSED;
    gr::attachment.end();
    gr::rebound.undo();
    end_recording();
    return 0;
}
// NOLINTEND(misc-use-internal-linkage)

}  // extern "C"
