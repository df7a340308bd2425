// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: attachment.hpp.
// Invariant: no lock is held: who arrives takes none, and the others wait for the word. A child that is forked
//    meanwhile begins anew.
// Must not know: threads and their rings.
#include "recorder/attachment.hpp"

#include "granary/wire/recording.h"
#include "platform/futex.hpp"
#include "platform/ipc/shared_memory.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "recorder/next.hpp"
#include "recorder/recording.hpp"
#include "recorder/sampling.hpp"

namespace gr {
namespace {

constexpr unsigned kWaitMilliseconds = 100;
constexpr unsigned kPlaceMilliseconds = 1;
constexpr unsigned kPlaceAttempts = 1000;

bool map_recording() {
    const char *const path = platform::variable(GR_RECORDING_PATH);
    if (path == nullptr || !recording.map(path)) return false;
    return recording.control().stack_bytes == 0 || stack_walk.initialise();
}

}  // namespace

std::uint32_t Attachment::number() {
    for (;;) {
        std::uint32_t word = attached.word.load(std::memory_order_acquire);
        if (word == kNothing || word >= kFirstArrival) return word;
        // Without an environment libc has not begun, unless the program has cleared it; then a child finds the recording mapped.
        if (!recording.is_mapped() && platform::environment() == nullptr) return kUnknown;
        if (word == kArriving) {
            platform::sleep_on_for(attached.word, kArriving, kWaitMilliseconds);
        } else if (attached.word.compare_exchange_strong(word, kArriving, std::memory_order_acquire)) {
            const std::uint32_t result = arrive() ? ++generation_ : kNothing;
            attached.word.store(result, std::memory_order_release);
            platform::wake_all(attached.word);
            return result;
        }
    }
}

bool Attachment::arrive() {
    if (!recording.is_mapped() && !map_recording()) return false;
    is_wiped_ = is_wiped_ || platform::wipe_in_children(&attached, platform::page_size());
    if (!is_wiped_) return false;
    if (!take_place()) {
        recording.count_missed();
        return false;
    }
    gr_recorded_process &entry = recording.process(place_);
    entry.time = recording.now();
    next.object.copy_path(&entry.allocator[0], sizeof entry.allocator);
    // Release: pairs with the recorder's acquire.
    std::atomic_ref(entry.state).store(GR_PROCESS_ARRIVED, std::memory_order_release);
    recording.ring_bell();
    return recording.wait_while(&entry.state, GR_PROCESS_ARRIVED) &&
           std::atomic_ref(entry.state).load(std::memory_order_acquire) == GR_PROCESS_RECORDED;
}

bool Attachment::take_place() {
    process_ = platform::process_id();
    for (unsigned attempt = 0; attempt < kPlaceAttempts && recording.recorder_lives(); ++attempt) {
        for (place_ = 0; place_ < recording.control().processes; ++place_) {
            std::uint32_t nobody = 0;
            // Acquire: pairs with the recorder's release, after which it looks at the entry no more.
            if (std::atomic_ref(recording.process(place_).id)
                    .compare_exchange_strong(nobody, process_, std::memory_order_acquire))
                return true;
        }
        recording.ring_bell();
        platform::sleep_for(kPlaceMilliseconds);
    }
    return false;
}

void Attachment::leave() const {
    if (attached.word.load(std::memory_order_acquire) >= kFirstArrival) tell_of_leaving();
}

void Attachment::end() const {
    if (attached.word.exchange(kNothing, std::memory_order_acq_rel) >= kFirstArrival) tell_of_leaving();
}

void Attachment::tell_of_leaving() const {
    if (process_ != platform::process_id()) return;
    std::uint32_t &state = recording.process(place_).state;
    // Release: pairs with the recorder's acquire.
    std::atomic_ref(state).store(GR_PROCESS_LEAVING, std::memory_order_release);
    recording.ring_bell();
    if (!recording.wait_while(&state, GR_PROCESS_LEAVING)) give_up();
}

void Attachment::show_code() const {
    const bool is_recorded = attached.word.load(std::memory_order_acquire) >= kFirstArrival;
    if (!is_recorded || process_ != platform::process_id() || recording.control().stack_bytes == 0) return;
    gr_recorded_process &entry = recording.process(place_);
    // Release: pairs with the recorder's acquire.
    const std::uint32_t wanted = std::atomic_ref(entry.looks_wanted).fetch_add(1, std::memory_order_release) + 1;
    recording.ring_bell();
    for (;;) {
        // Acquire: pairs with the recorder's release.
        const std::uint32_t done = std::atomic_ref(entry.looks_done).load(std::memory_order_acquire);
        if (static_cast<std::int32_t>(done - wanted) >= 0) return;
        if (!recording.wait_while(&entry.looks_done, done)) return give_up();
    }
}

}  // namespace gr
