// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: traces that are spoilt at random, with checks that match all the same, given to the reader under sanitizers.
// Invariant: a run is its seed: the same number spoils the same bytes. With libFuzzer, the bytes are its own.
// Must not know: what a reader makes of the events.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "reading/trace/check.hpp"
#include "reading/trace/playback.hpp"
#include "reading/trace/reader.hpp"
#include "reading/trace/writer.hpp"

namespace {

using namespace gr::trace;

class NamelessFile {
  public:
    NamelessFile() : file_(::memfd_create("trace", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", file_)) {
        if (file_ < 0) std::abort();
    }
    ~NamelessFile() { ::close(file_); }
    NamelessFile(const NamelessFile &) = delete;
    NamelessFile &operator=(const NamelessFile &) = delete;
    [[nodiscard]] const std::string &path() const { return path_; }
    void write(ByteView bytes) const {
        if (::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
    }

  private:
    int file_;
    std::string path_;
};

// All that a reader offers.
void read_all(ByteView bytes) {
    const NamelessFile file;
    file.write(bytes);
    try {
        const Trace trace(file.path());
        for (const ResidentBlock &block : trace.residents()) {
            try {
                static_cast<void>(trace.resident(block));
            } catch (const Damage &) {
                continue;  // it says so, and reads nothing outside
            }
        }
        Listener listener;
        Playback(trace).play(listener);
    } catch (const gr::tool::Failure &) {
        return;  // no trace any more
    }
}

// Of each kind of chunk some.
Bytes whole_trace() {
    const NamelessFile file;
    {
        Writer writer(file.path());
        writer.start({.program = "/bin/program", .arguments = {"a", "b"}, .process = 1, .page_bytes = 4096});
        writer.modules({Time{1}, {{0x1000, 0x2000, 0, "/bin/program", "00ff"}}});
        writer.stacks(std::vector<StackNode>{{StackNumber{0}, 0x1234}, {StackNumber{1}, 0x1300}});
        writer.threads(std::vector<Thread>{{ThreadNumber{0}, 7, "main", Time{1}}});
        for (std::uint32_t thread = 0; thread < 3; ++thread) {
            std::vector<Event> events;
            for (std::uint64_t i = 0; i < 40; ++i) {
                events.push_back({.time = Time{i * 3 + thread},
                                  .address = 0x10000 + thread * 0x1000 + i / 2 * 32,
                                  .size = i % 2 == 0 ? i * 5 : 0,
                                  .thread = ThreadNumber{thread},
                                  .stack = StackNumber{i % 4 == 0 ? 2U : 0U},
                                  .nanoseconds = i % 10 == 0 ? 30U : 0U,
                                  .op = i % 2 == 0 ? Op::aligned_alloc : Op::free,
                                  .log2_alignment = static_cast<std::uint8_t>(i % 4 == 0 ? 6 : 0)});
            }
            writer.events(ThreadNumber{thread}, events, thread);
        }
        writer.marks(std::vector<Mark>{{Time{5}, ThreadNumber{0}, "phase"}});
        writer.samples(std::vector<Sample>{{.time = Time{2}, .resident_bytes = 4096}, {.time = Time{9}}});
        writer.resident({Time{4}, 4096, {{0x10000, 8192}, {0x20000, 4096}}});
        writer.relative({Time{6}, 9, false, "child.trace"});
        writer.names(
            std::vector<NamedPlace>{{"/bin/program", "00ff", 0x300, {{"main", "a.c", 3}, {"inner<int>", "b.h", 7}}}});
        writer.end({.time = Time{200}, .reason = End::Reason::exit, .events = 120});
    }
    std::ifstream stream(file.path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// So that what is behind the checks is reached.
void repair_checks(Bytes *bytes) {
    std::size_t at = sizeof(FileHead);
    while (at <= bytes->size() && bytes->size() - at >= sizeof(ChunkHead)) {
        ChunkHead head;
        std::memcpy(&head, bytes->data() + at, sizeof head);
        const std::size_t rest = bytes->size() - at - sizeof head;
        if (head.summary_bytes > rest || head.body_bytes > rest - head.summary_bytes) return;
        const ByteView summary = ByteView(*bytes).subspan(at + sizeof head, head.summary_bytes);
        head.body_check = check_of(0, ByteView(*bytes).subspan(at + sizeof head + head.summary_bytes, head.body_bytes));
        constexpr std::size_t kChecked = sizeof head - sizeof head.head_check;
        head.head_check = check_of(check_of(0, {reinterpret_cast<const std::uint8_t *>(&head), kChecked}), summary);
        std::memcpy(bytes->data() + at, &head, sizeof head);
        at += sizeof head + head.summary_bytes + head.body_bytes;
    }
}

#ifndef TRACE_FUZZ_BY_LIBFUZZER
void spoil(Bytes *bytes, std::mt19937_64 &random) {
    for (std::uint64_t times = 1 + random() % 4; times != 0 && bytes->size() > sizeof(FileHead); --times) {
        const std::size_t at = sizeof(FileHead) + random() % (bytes->size() - sizeof(FileHead));
        const auto place = bytes->begin() + static_cast<std::ptrdiff_t>(at);
        switch (random() % 5) {
            case 0:
                *place = static_cast<std::uint8_t>(random());
                break;
            case 1:
                *place = static_cast<std::uint8_t>(*place ^ (1U << random() % 8));
                break;
            case 2:
                bytes->insert(place, static_cast<std::uint8_t>(random()));
                break;
            case 3:
                bytes->erase(place);
                break;
            default:
                if (random() % 8 == 0) bytes->resize(at);
                break;
        }
    }
}
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    Bytes bytes(data, data + size);
    repair_checks(&bytes);
    read_all(bytes);
    return 0;
}

#ifndef TRACE_FUZZ_BY_LIBFUZZER
int main(int count, char **words) {
    if (count != 3) return 2;
    const Bytes whole = whole_trace();
    const std::uint64_t first = std::strtoull(words[1], nullptr, 10);
    const std::uint64_t runs = std::strtoull(words[2], nullptr, 10);
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        std::mt19937_64 random(seed);
        Bytes bytes = whole;
        spoil(&bytes, random);
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
    return 0;
}
#else
extern "C" int LLVMFuzzerInitialize(int *, char ***) {
    // A beginning, where there is no corpus yet.
    if (const char *const path = std::getenv("TRACE_FUZZ_SEED"); path != nullptr) {
        const Bytes whole = whole_trace();
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char *>(whole.data()), static_cast<std::streamsize>(whole.size()));
    }
    return 0;
}
#endif
