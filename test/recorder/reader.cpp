// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reader.hpp.
// Invariant: as there.
// Must not know: the library's sources.
#include "reader.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace {

constexpr std::uint64_t kAddress = (std::uint64_t{1} << GR_RECORD_KIND_SHIFT) - 1;
constexpr std::uint64_t kPage = 4096;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void wake(std::uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0); }

// One that ran and was waited for.
std::uint32_t gone_process() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return static_cast<std::uint32_t>(child);
}

bool is_there(unsigned process, unsigned thread) {
    const std::string path = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
    return access(path.c_str(), F_OK) == 0;
}

class Reader {
  public:
    explicit Reader(const Wanted &wanted) : wanted_(wanted) {
        const std::uint64_t processes_at = pages(sizeof(gr_recording));
        const std::uint64_t rings_at = processes_at + pages(wanted.processes * sizeof(gr_recorded_process));
        const std::uint64_t records_at = rings_at + pages(wanted.rings * sizeof(gr_recording_ring));
        const std::uint64_t bytes = records_at + wanted.rings * wanted.ring_records * sizeof(gr_record);
        fd_ = memfd_create("recording", MFD_CLOEXEC);
        void *const begin = ftruncate(fd_, static_cast<off_t>(bytes)) != 0
                                ? MAP_FAILED
                                : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        if (begin == MAP_FAILED) std::abort();
        begin_ = static_cast<char *>(begin);
        bytes_ = bytes;
        gr_recording &control = *new (begin_) gr_recording{};
        control.version = GR_RECORDING_VERSION;
        control.recorder = static_cast<std::uint32_t>(getpid());
        control.flags = wanted.flags;
        control.clock = wanted.clock;
        control.stack_bytes = wanted.stack_bytes;
        control.stack_calls = wanted.stack_calls;
        control.timed_calls = wanted.timed_calls;
        control.processes = wanted.processes;
        control.rings = wanted.rings;
        control.ring_records = wanted.ring_records;
        control.processes_at = processes_at;
        control.rings_at = rings_at;
        control.records_at = records_at;
        control.magic = GR_RECORDING_MAGIC;
        control_ = &control;
    }
    ~Reader() {
        munmap(begin_, bytes_);
        close(fd_);
    }
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;

    Recorded run(const std::vector<std::string> &command) {
        int out[2];
        if (pipe2(out, O_CLOEXEC) != 0) std::abort();
        const pid_t child = start(command, out[1]);
        close(out[1]);
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        bool has_ended = false;
        while (!has_ended) {
            has_ended = waitpid(child, &recorded_.status, WNOHANG) == child;
            read_output(out[0]);
            look();
            usleep(wanted_.pause_microseconds);
        }
        read_output(out[0]);
        is_reading_ = is_reading_ || recorded_count_ < wanted_.dies_after;
        look();
        close(out[0]);
        recorded_.rings_used = control_->ring_count;
        recorded_.lost_at_end += control_->lost;
        return std::move(recorded_);
    }

  private:
    pid_t start(const std::vector<std::string> &command, int out) {
        std::vector<char *> words;
        for (const std::string &word : command) words.push_back(const_cast<char *>(word.c_str()));
        words.push_back(nullptr);
        std::string preload = std::string("LD_PRELOAD=") + RECORD_LIBRARY;
        if (!wanted_.preload_behind.empty()) preload += ":" + wanted_.preload_behind;
        const std::string path =
            std::string(GR_RECORDING_PATH "=/proc/") + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
        std::vector<char *> environment{preload.data()};
        if (!wanted_.hides) environment.push_back(const_cast<char *>(path.c_str()));
        for (const std::string &entry : wanted_.environment) environment.push_back(const_cast<char *>(entry.c_str()));
        environment.push_back(nullptr);
        const pid_t child = fork();
        if (child != 0) return child;
        dup2(out, 1);
        closefrom(3);  // whoever runs the tests may have some open
        execve(words[0], words.data(), environment.data());
        _exit(127);
    }

    void read_output(int fd) {
        char text[4096];
        for (ssize_t got = 0; (got = ::read(fd, &text[0], sizeof text)) > 0;)
            recorded_.output.append(&text[0], static_cast<std::size_t>(got));
    }

    gr_recorded_process &process(std::uint32_t place) {
        return reinterpret_cast<gr_recorded_process *>(begin_ + control_->processes_at)[place];
    }

    void set_state(gr_recorded_process &entry, std::uint32_t state) {
        std::atomic_ref(entry.state).store(state, std::memory_order_release);
        wake(&entry.state);
    }

    void look() {
        for (std::uint32_t place = 0; place < control_->processes; ++place) look_at_process(place);
        const std::uint32_t count = std::atomic_ref(control_->ring_count).load(std::memory_order_acquire);
        if (count > control_->rings) error("ring_count");
        if (!is_reading_ || wanted_.lets_short_of_room) return;
        const std::map<std::uint32_t, unsigned> known = process_ids_;
        ring_processes_.clear();
        for (std::uint32_t place = 0; place < count; ++place) look_at_ring(place);
        for (const auto &[place, id] : known) {
            if (!ring_processes_.contains(place) && (is_over(place) || !is_there(id, id))) free_process(place);
        }
    }

    bool is_over(std::uint32_t place) const { return over_.contains(place); }

    void free_process(std::uint32_t place) {
        process_ids_.erase(place);
        over_.erase(place);
        process(place).state = GR_PROCESS_FREE;
        std::atomic_ref(process(place).id).store(0, std::memory_order_release);
    }

    void look_at_process(std::uint32_t place) {
        gr_recorded_process &entry = process(place);
        const std::uint32_t state = std::atomic_ref(entry.state).load(std::memory_order_acquire);
        const std::uint32_t id = std::atomic_ref(entry.id).load(std::memory_order_acquire);
        if (!is_reading_) return;
        if (state == GR_PROCESS_ARRIVED) {
            recorded_.processes.emplace_back(id, &entry.allocator[0]);
            for (const auto &[other, other_id] : process_ids_) {
                if (other_id == id) over_.insert(other);  // another program now
            }
            process_ids_[place] = id;
            set_state(entry, wanted_.refuses ? GR_PROCESS_REFUSED : GR_PROCESS_RECORDED);
        } else if (const std::uint32_t wanted = std::atomic_ref(entry.looks_wanted).load(std::memory_order_acquire);
                   wanted != entry.looks_done) {
            ++recorded_.looks;
            std::atomic_ref(entry.looks_done).store(wanted, std::memory_order_release);
            wake(&entry.looks_done);
        } else if (state == GR_PROCESS_LEAVING) {
            ++recorded_.left;
            wanted_.lets_short_of_room = false;
            set_state(entry, GR_PROCESS_LEFT);
        }
    }

    void look_at_ring(std::uint32_t place) {
        auto &ring = reinterpret_cast<gr_recording_ring *>(begin_ + control_->rings_at)[place];
        const std::uint32_t thread = std::atomic_ref(ring.thread).load(std::memory_order_acquire);
        if (thread == 0) return;
        const bool is_gone = is_over(ring.process) || !is_there(process_ids_[ring.process], thread);
        const std::uint64_t head = std::atomic_ref(ring.head).load(std::memory_order_acquire);
        ring_processes_.insert(ring.process);
        const std::uint64_t tail = ring.tail;
        if (head - tail > wanted_.ring_records) return error("head of ring " + std::to_string(place));
        if (head != tail) {
            const auto known = seen_.try_emplace({process_ids_[ring.process], thread}, seen_.size()).first;
            read(place, Thread{known->second, process_ids_[ring.process], thread}, tail, head);
            std::atomic_ref(ring.tail).store(head, std::memory_order_release);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            if (std::atomic_ref(ring.waits).load(std::memory_order_relaxed) != 0)
                wake(reinterpret_cast<std::uint32_t *>(&ring.tail));
        }
        if (!is_gone) return;
        recorded_.lost_at_end += ring.lost;
        ring.lost = 0;
        std::atomic_ref(ring.thread).store(0, std::memory_order_release);
    }

    void read(std::uint32_t ring, Thread thread, std::uint64_t from, std::uint64_t to) {
        const gr_record *const records =
            reinterpret_cast<const gr_record *>(begin_ + control_->records_at) + ring * wanted_.ring_records;
        const auto at = [&](std::uint64_t i) { return records[i & (wanted_.ring_records - 1)]; };
        std::vector<Event> &events = recorded_.events[thread];
        std::vector<std::uint64_t> stack;
        std::vector<std::uint64_t> &last = last_stacks_[thread];
        while (from < to) {
            const gr_record record = at(from++);
            if (++recorded_count_ >= wanted_.dies_after) die();
            Event event;
            event.kind = static_cast<unsigned>(record.kind_and_address >> GR_RECORD_KIND_SHIFT);
            event.address = record.kind_and_address & kAddress;
            event.time = record.time;
            event.size = record.size & kAddress;
            event.above = static_cast<unsigned>(record.size >> GR_RECORD_ALIGNMENT_SHIFT);
            std::string bytes;
            const bool has_text =
                event.kind == GR_RECORD_MARK || event.kind == GR_RECORD_NAME || event.kind == GR_RECORD_PLACE;
            const std::uint64_t length = has_text                        ? event.size
                                         : event.kind == GR_RECORD_STACK ? event.size * sizeof(std::uint64_t)
                                                                         : 0;
            for (std::uint64_t i = 0; i * sizeof(gr_record) < length; ++i) {
                const gr_record more = at(from++);
                bytes.append(reinterpret_cast<const char *>(&more), sizeof more);
            }
            bytes.resize(length);
            if (from > to) return error("half a group");
            if (event.kind == GR_RECORD_STACK) {
                stack.resize(event.size);
                std::memcpy(stack.data(), bytes.data(), length);
                if (event.above == GR_RECORD_STACK_APART) continue;
                if (event.above > last.size()) return error("a stack has more further words than the last one");
                stack.insert(stack.end(), last.end() - event.above, last.end());
                last = stack;
            } else if (event.kind == GR_RECORD_TIMED) {
                if (events.empty()) return error("the time of nothing");
                events.back().ticks = event.size;
            } else {
                event.text = bytes;
                event.stack = std::move(stack);
                stack.clear();
                events.push_back(event);
            }
        }
    }

    void die() {
        is_reading_ = false;
        control_->recorder = gone_process();
    }

    void error(const std::string &what) { recorded_.errors.push_back(what); }

    Wanted wanted_;
    Recorded recorded_;
    std::map<Thread, std::vector<std::uint64_t>> last_stacks_;
    int fd_ = -1;
    char *begin_ = nullptr;
    std::uint64_t bytes_ = 0;
    gr_recording *control_ = nullptr;
    std::map<std::uint32_t, unsigned> process_ids_;  // by their places
    std::set<std::uint32_t> over_;                   // of these, what another program has taken the place of
    std::set<std::uint32_t> ring_processes_;
    std::map<std::pair<unsigned, unsigned>, std::size_t> seen_;  // that have a ring
    std::uint64_t recorded_count_ = 0;
    bool is_reading_ = true;
};

}  // namespace

std::uint64_t Recorded::count(unsigned kind) const {
    std::uint64_t found = 0;
    for (const auto &[thread, list] : events) {
        for (const Event &event : list) found += event.kind == kind;
    }
    return found;
}

Recorded record(const Wanted &wanted, const std::vector<std::string> &command) { return Reader(wanted).run(command); }

std::vector<Event> between_marks(const Recorded &recorded) {
    std::vector<Event> found;
    for (const auto &[thread, events] : recorded.events) {
        bool is_within = false;
        for (const Event &event : events) {
            if (event.kind == GR_RECORD_MARK && event.text == "end") return found;
            if (is_within) found.push_back(event);
            if (event.kind == GR_RECORD_MARK && event.text == "begin") is_within = true;
        }
    }
    return found;
}

std::string lines(const std::vector<Event> &events) {
    std::string text;
    for (const Event &event : events) {
        char line[128];
        std::snprintf(&line[0], sizeof line, "%u %llx %llu %u\n", event.kind,
                      static_cast<unsigned long long>(event.address), static_cast<unsigned long long>(event.size),
                      event.above);
        text += &line[0];
    }
    return text;
}
