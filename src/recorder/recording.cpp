// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "recorder/recording.hpp"

#include <cstring>

#include "base/bits.hpp"
#include "platform/clock.hpp"
#include "platform/counter.hpp"
#include "platform/ipc/shared_memory.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr unsigned kPatienceMilliseconds = 100;  // after it, who waits looks whether the recorder lives

bool fits(std::uint64_t at, std::uint64_t count, std::uint64_t size, std::uint64_t bytes) {
    return at <= bytes && at % alignof(gr_recording) == 0 && count <= (bytes - at) / size;
}

}  // namespace

bool Recording::map(const char *path) {
    const platform::SharedFile file = platform::map_shared(path, {begin_, bytes_});
    if (file.begin == nullptr) return false;
    begin_ = file.begin;
    bytes_ = file.bytes;
    control_ = reinterpret_cast<gr_recording *>(begin_);
    is_mapped_ = file.bytes >= sizeof *control_ && is_whole(file.bytes);
    return is_mapped_;
}

void Recording::give_up() {
    if (is_mapped_ && platform::give_up_shared({begin_, bytes_})) is_mapped_ = false;
}

bool Recording::is_whole(std::uint64_t bytes) const {
    const gr_recording &it = *control_;
    return it.magic == GR_RECORDING_MAGIC && it.version == GR_RECORDING_VERSION && is_power_of_two(it.ring_records) &&
           it.ring_records >= GR_RECORDING_LEAST_RECORDS && it.ring_records <= bytes &&
           fits(it.processes_at, it.processes, sizeof(gr_recorded_process), bytes) &&
           fits(it.rings_at, it.rings, sizeof(gr_recording_ring), bytes) &&
           fits(it.records_at, it.rings, it.ring_records * sizeof(gr_record), bytes);
}

std::uint64_t Recording::now() const noexcept { return has_counter() ? platform::counter() : platform::nanoseconds(); }

void Recording::count_unloaded(const char *name) const {
    // Relaxed, as all here: the recorder takes at its end what is there.
    std::atomic_ref(control_->unloaded).fetch_add(1, std::memory_order_relaxed);
    const char *const slash = std::strrchr(name, '/');
    if (slash != nullptr) name = slash + 1;
    constexpr std::size_t kMostLetters = GR_RECORDING_UNLOADED_NAME_BYTES - 1;
    const std::atomic_ref count(control_->unloaded_names);
    const std::uint64_t written = count.load(std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < written && i < GR_RECORDING_UNLOADED_NAMES; ++i) {
        if (std::strncmp(&control_->unloaded_name[i][0], name, kMostLetters) == 0) return;
    }
    const std::uint64_t place = count.fetch_add(1, std::memory_order_relaxed);
    if (place < GR_RECORDING_UNLOADED_NAMES)
        std::memcpy(&control_->unloaded_name[place][0], name, strnlen(name, kMostLetters));
}

void Recording::ring_bell() const {
    // Release: pairs with the recorder's acquire, before it looks.
    std::atomic_ref(control_->bell).fetch_add(1, std::memory_order_release);
    platform::wake_shared(&control_->bell);
}

bool Recording::recorder_lives() const { return control_->recorder != 0 && platform::lives(control_->recorder); }

bool Recording::wait_while(std::uint32_t *word, std::uint32_t value) const {
    // Acquire: pairs with the recorder's release.
    while (std::atomic_ref(*word).load(std::memory_order_acquire) == value) {
        if (!platform::sleep_on_shared(word, value, kPatienceMilliseconds) && !recorder_lives()) return false;
    }
    return true;
}

}  // namespace gr
