// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: shared_recording.hpp.
// Invariant: as there. Its pages exist once they are written, so its size costs nothing.
// Must not know: who empties the rings.
#include "commands/record/shared_recording.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <fstream>
#include <system_error>

#include "base/failure.hpp"
#include "commands/record/process_files.hpp"

namespace gr::tool {

namespace {

[[noreturn]] void fail(const char *what, int error) {
    throw Failure(ExitCode::tool_failure, fmt::format("cannot share memory with the program: {}: {}", what,
                                                      std::generic_category().message(error)));
}

}  // namespace

// A limit on address space (ulimit -v) is the program's, too, and it has better uses for it. Process 0 is this one.
std::uint32_t SharedRecording::rings_within_limit(std::uint32_t process) {
    constexpr std::uint64_t kPartBytes = 8;
    constexpr std::uint64_t kLeast = 16;
    rlimit limit{};
    if (::prlimit(static_cast<pid_t>(process), RLIMIT_AS, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kMostRings;
    const std::uint64_t rings = std::max(kLeast, limit.rlim_cur / kPartBytes / kBytesOfRing);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(rings, kMostRings));
}

SharedRecording::SharedRecording(const RecordingSettings &settings, std::uint32_t clock)
    : SharedRecording(settings, clock, make_file(), 0) {}

int SharedRecording::make_file() {
    const int file = ::memfd_create(kName, MFD_CLOEXEC);
    if (file < 0) fail("memfd_create", errno);
    return file;
}

SharedRecording::SharedRecording(const RecordingSettings &settings, std::uint32_t clock, int file,
                                 std::uint32_t process)
    : file_(file),
      is_own_file_(process == 0),
      rings_(rings_within_limit(process)),
      records_at_(kAligned(kRingsAt + rings_ * sizeof(gr_recording_ring))),
      bytes_(records_at_ + rings_ * kBytesOfRing) {
    if (::ftruncate(file_, static_cast<off_t>(bytes_)) != 0) fail("ftruncate", errno);
    void *const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) fail("mmap", errno);
    begin_ = static_cast<char *>(at);
    gr_recording &it = control();
    it.version = GR_RECORDING_VERSION;
    it.recorder = static_cast<std::uint32_t>(::getpid());
    it.flags = settings.lossy ? GR_RECORDING_LOSSY : 0;
    it.clock = clock;
    it.stack_bytes = settings.stack_bytes;
    it.stack_calls = settings.stack_calls;
    it.timed_calls = settings.timed_calls;
    it.processes = kProcesses;
    it.rings = rings_;
    it.ring_records = kRingRecords;
    it.processes_at = kProcessesAt;
    it.rings_at = kRingsAt;
    it.records_at = records_at_;
    it.magic = GR_RECORDING_MAGIC;
}

SharedRecording::~SharedRecording() {
    ::munmap(begin_, bytes_);
    if (is_own_file_) ::close(file_);
}

std::string SharedRecording::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_); }

bool SharedRecording::has_processes() const {
    for (std::uint32_t place = 0; place < kProcesses; ++place) {
        if (std::atomic_ref(process(place).id).load(std::memory_order_relaxed) != 0) return true;
    }
    return false;
}

std::optional<bool> SharedRecording::is_mapped_by(std::uint32_t process) const {
    const auto self = static_cast<std::uint32_t>(::getpid());
    if (process == 0 || process == self || process > INT_MAX) return false;
    struct stat status {};
    if (::fstat(file_, &status) != 0) return std::nullopt;
    const std::string mapped = fmt::format(" {} ", status.st_ino);
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    std::optional<bool> is_mapped;
    for (std::string line; std::getline(maps, line); is_mapped = false) {
        if (line.find(mapped) != std::string::npos && line.find("memfd:granary-recording") != std::string::npos)
            return true;
    }
    // A recorded process can name any process. One that is older than the recorder is recorded only if its mappings show it.
    if (!is_mapped && ProcessStatus(process).is_there() && start_time_of(process) < start_time_of(self)) return false;
    return is_mapped;
}

void SharedRecording::ring_bell() const {
    // Release: pairs with the drain's acquire, before it looks.
    std::atomic_ref(control().bell).fetch_add(1, std::memory_order_release);
    wake_sleepers(&control().bell);
}

void wake_sleepers(std::uint32_t *word) { ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void sleep_while(std::uint32_t *word, std::uint32_t value, unsigned milliseconds) {
    const timespec most{0, static_cast<long>(milliseconds) * 1000000};
    ::syscall(SYS_futex, word, FUTEX_WAIT, value, &most, nullptr, 0);
}

}  // namespace gr::tool
