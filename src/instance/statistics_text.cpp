// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance/statistics_text.hpp"

#include <cstring>
#include <iterator>

#include "base/printable.hpp"
#include "platform/events.hpp"
#include "platform/process.hpp"
#include "platform/public_names.hpp"

namespace gr {
namespace {

// A metric whose name ends in _total only grows, as Prometheus requires.
struct StatisticRow {
    const char *name;
    std::uint64_t gr_statistics::*value;
    bool bytes;
    const char *meaning;
    const char *metric = nullptr;  // its name for Prometheus, if that is another
};

constexpr StatisticRow kStatisticRows[] = {
    {"live_bytes", &gr_statistics::live_bytes, true, "in use by the program, in usable bytes"},
    {"live_blocks", &gr_statistics::live_blocks, false, "blocks in use by the program"},
    {"block_bytes", &gr_statistics::block_bytes, true, "all blocks of all superblocks"},
    {"magazine_bytes", &gr_statistics::magazine_bytes, true, "free blocks cached in magazines and messages"},
    {"magazine_blocks", &gr_statistics::magazine_blocks, false, "number of the blocks in magazine_bytes"},
    {"remote_bytes", &gr_statistics::remote_bytes, true,
     "blocks freed on another concurrency id, not yet collected by their owner"},
    {"free_bytes", &gr_statistics::free_bytes, true, "free blocks in superblocks"},
    {"free_blocks", &gr_statistics::free_blocks, false, "number of the blocks in free_bytes"},
    {"run_bytes", &gr_statistics::run_bytes, true, "blocks in use that are whole units, included in live_bytes"},
    {"run_count", &gr_statistics::run_count, false, "number of the blocks in run_bytes", "run_blocks"},
    {"direct_bytes", &gr_statistics::direct_bytes, true,
     "blocks in use that are mapped directly, included in live_bytes"},
    {"direct_count", &gr_statistics::direct_count, false, "number of the blocks in direct_bytes", "direct_blocks"},
    {"tail_bytes", &gr_statistics::tail_bytes, true, "ends of superblocks that no block covers"},
    {"retained_bytes", &gr_statistics::retained_bytes, true, "empty units kept resident for the next request"},
    {"reuse_bytes", &gr_statistics::reuse_bytes, true, "part of retained_bytes that the reuse allowance keeps"},
    {"reuse_seconds", &gr_statistics::reuse_seconds, false, "seconds since the reuse allowance was last 0"},
    {"lazy_bytes", &gr_statistics::lazy_bytes, true, "part of retained_bytes that the kernel may take back (LazyFree)"},
    {"metadata_bytes", &gr_statistics::metadata_bytes, true, "committed for the allocator's own tables"},
    {"resident_bytes", &gr_statistics::resident_bytes, true, "resident set of the whole process (RSS)"},
    {"huge_bytes", &gr_statistics::huge_bytes, true, "part of resident_bytes in huge pages"},
    {"reserved_bytes", &gr_statistics::reserved_bytes, true, "mapped or reserved address space"},
    {"heap_bytes", &gr_statistics::heap_bytes, true, "address space of the units in use"},
    {"peak_heap_bytes", &gr_statistics::peak_heap_bytes, true, "maximum of heap_bytes + retained_bytes so far"},
    {"peak_direct_bytes", &gr_statistics::peak_direct_bytes, true, "maximum of direct_bytes so far"},
    {"superblocks", &gr_statistics::superblocks, false, "superblocks in use"},
    {"global_superblocks", &gr_statistics::global_superblocks, false,
     "superblocks in the global heap, included in superblocks"},
    {"heaps", &gr_statistics::heaps, false, "heaps used so far"},
    {"purged_bytes", &gr_statistics::purged_bytes, true, "returned to the kernel since the start",
     "purged_bytes_total"},
    {"purge_calls", &gr_statistics::purge_calls, false, "system calls that returned purged_bytes", "purge_calls_total"},
    {"rseq", &gr_statistics::rseq, false, "1: magazines use restartable sequences; 0: each call takes a lock"},
};

// A statistic of a size class, of runs, or of direct blocks. If it never changes, it is no series of Prometheus.
struct Column {
    const char *name;
    std::uint64_t gr_class_statistics::*value;
    bool changes;
    const char *meaning;
};

constexpr Column kColumns[] = {
    {"block_size", &gr_class_statistics::block_size, false, "usable bytes of each block"},
    {"superblock_blocks", &gr_class_statistics::superblock_blocks, false, "blocks of one superblock"},
    {"superblocks", &gr_class_statistics::superblocks, true, "superblocks in use"},
    {"global_superblocks", &gr_class_statistics::global_superblocks, true,
     "superblocks in the global heap, included in superblocks"},
    {"live_blocks", &gr_class_statistics::live_blocks, true, "blocks in use by the program"},
    {"live_bytes", &gr_class_statistics::live_bytes, true, "usable bytes of the blocks in use"},
    {"magazine_blocks", &gr_class_statistics::magazine_blocks, true, "free blocks cached in magazines and messages"},
    {"remote_blocks", &gr_class_statistics::remote_blocks, true,
     "blocks freed on another concurrency id, not yet collected by their owner"},
    {"free_blocks", &gr_class_statistics::free_blocks, true, "free blocks in superblocks"},
    {"address_bytes", &gr_class_statistics::address_bytes, true,
     "address space of the superblocks, runs or direct mappings"},
};

// In the counted build only.
struct EventRow {
    const char *name;
    platform::Event event;
    const char *meaning;
};

constexpr EventRow kEvents[] = {
    {"refills", platform::Event::refill, "slow paths of allocation"},
    {"flushes", platform::Event::flush, "slow paths of free"},
    {"remote_flushes", platform::Event::remote_flush, "flushes of remote magazines"},
    {"messages", platform::Event::message, "messages sent to other heaps"},
    {"shared_superblocks", platform::Event::shared_superblock,
     "superblocks with blocks in use that a heap took from the global heap and does not remember to have given"},
    {"shared_blocks", platform::Event::shared_block,
     "blocks in use in these when they were taken: possible false sharing"},
    {"locks", platform::Event::lock, "locks acquired, of any kind"},
    {"global_locks", platform::Event::global_lock, "locks of the global heap, included in locks"},
    {"page_heap_locks", platform::Event::page_heap_lock, "locks of the page heap, included in locks"},
    {"waits", platform::Event::wait, "lock acquisitions that had to wait"},
    {"atomic_operations", platform::Event::atomic_operation, "atomic read-modify-write operations"},
    {"aborted_sequences", platform::Event::aborted_sequence, "sequences aborted by preemption, migration or a signal"},
    {"system_calls", platform::Event::system_call, "system calls made by the allocator"},
    {"blocks_marked_twice", platform::Event::block_marked_twice, "blocks that two markers of a collector marked"},
    {"work_given", platform::Event::work_given, "segments of work that a marker gave to others"},
    {"stacks_outgrown", platform::Event::stack_outgrown, "segments that a marker's own stack filled"},
};
static_assert(std::size(kEvents) == static_cast<unsigned>(platform::Event::count), "each event has a name");

constexpr const char *kPrefixedLibrary = "granary-prefixed";
constexpr const char *kKinds[] = {"blocks", "runs", "direct"};  // by gr_class_kind
static_assert(GR_CLASS_BLOCKS == 0 && GR_CLASS_RUNS == 1 && GR_CLASS_DIRECT == 2,
              "the names of kinds are an array that these numbers index");

bool is_empty(const gr_class_statistics &row) { return row.superblocks == 0 && row.live_blocks == 0; }

class Printer {
  public:
    Printer(StatisticsFormat format, PutLine put, void *sink, const Origin *origin)
        : format_(format), put_(put), sink_(sink), origin_(origin) {}

    void head(std::uint32_t version) {
        if (format_ == StatisticsFormat::json) line_ << "{\n  \"version\": " << version;
        if (origin_ != nullptr) put_origin();
        flush();
    }
    void tail() {
        if (format_ == StatisticsFormat::json) line_ << "\n}\n";
        flush();
    }
    void field(const char *name, const char *metric, std::uint64_t value, bool bytes, const char *meaning) {
        switch (format_) {
            case StatisticsFormat::text:
                line_ << name;
                line_.pad(0, 20) << value;
                line_.pad(0, 36) << (bytes ? "bytes  " : "       ") << meaning << '\n';
                break;
            case StatisticsFormat::json:
                line_ << ",\n  \"" << name << "\": " << value;
                break;
            case StatisticsFormat::xml:
                line_ << '<' << name << '>' << value << "</" << name << ">\n";
                break;
            case StatisticsFormat::prometheus:
                describe_metric("granary_", metric, meaning);
                put_sample("granary_", metric, nullptr, value);
                break;
        }
        flush();
    }
    void classes(const HeapCount &counted) {
        if (format_ == StatisticsFormat::json) return class_objects(counted);
        if (format_ != StatisticsFormat::prometheus) return;
        for (const Column &column : kColumns) {
            if (column.changes) class_series(counted, column);
        }
    }

  private:
    static constexpr std::size_t kLineBytes = 2 * kCommandBytes + 512;  // escapes may double the length of the command

    void flush() {
        if (line_.size() != 0) put_(sink_, line_);
        line_.clear();
    }
    void put_origin() {
        switch (format_) {
            case StatisticsFormat::text:
                line_ << (origin_->is_prefixed ? kPrefixedLibrary : "granary") << ": statistics of process "
                      << origin_->process << ": " << origin_->command << '\n';
                break;
            case StatisticsFormat::json:
                line_ << ",\n  \"pid\": " << origin_->process << ",\n  \"command\": ";
                put_json_string(line_, origin_->command);
                if (origin_->is_prefixed) line_ << ",\n  \"library\": \"" << kPrefixedLibrary << '"';
                break;
            case StatisticsFormat::xml:
                break;  // the program that calls malloc_info(3) knows its process
            case StatisticsFormat::prometheus:
                describe_metric("granary_", "process_info", "always 1; the labels tell whose statistics these are");
                line_ << "granary_process_info{";
                put_origin_labels();
                line_ << ",command=";
                put_json_string(line_, origin_->command);  // a label's value has the same quotes and escapes
                line_ << "} 1\n";
                break;
        }
    }

    // Without the label of the library, a process with both libraries would have two series of one name.
    void put_origin_labels() {
        line_ << "pid=\"" << origin_->process << '"';
        if (origin_->is_prefixed) line_ << ",library=\"" << kPrefixedLibrary << '"';
    }
    void describe_metric(const char *prefix, std::string_view name, const char *meaning) {
        line_ << "# HELP " << prefix << name << ' ' << meaning << '\n';
        line_ << "# TYPE " << prefix << name << (name.ends_with("_total") ? " counter\n" : " gauge\n");
    }
    void put_sample(const char *prefix, const char *name, const gr_class_statistics *row, std::uint64_t value) {
        line_ << prefix << name;
        char before = '{';
        if (origin_ != nullptr) {
            line_ << before;
            put_origin_labels();
            before = ',';
        }
        if (row != nullptr) {
            line_ << before << "size=\"";
            row->kind == GR_CLASS_BLOCKS ? line_ << row->block_size : line_ << kKinds[row->kind];
            line_ << '"';
            before = ',';
        }
        line_ << (before == ',' ? "} " : " ") << value << '\n';
    }
    void class_series(const HeapCount &counted, const Column &column) {
        describe_metric("granary_class_", column.name, column.meaning);
        flush();
        for (std::size_t i = 0; i < HeapCount::kRows; ++i) {
            const gr_class_statistics row = counted.row(i);
            if (!is_empty(row)) put_sample("granary_class_", column.name, &row, row.*column.value);
            flush();
        }
    }
    void class_objects(const HeapCount &counted) {
        line_ << ",\n  \"classes\": [";
        const char *before = "\n";
        for (std::size_t i = 0; i < HeapCount::kRows; ++i) {
            const gr_class_statistics row = counted.row(i);
            if (is_empty(row)) continue;
            line_ << before << "    {\"kind\": \"" << kKinds[row.kind] << '"';
            for (const Column &column : kColumns) line_ << ", \"" << column.name << "\": " << row.*column.value;
            line_ << '}';
            before = ",\n";
            flush();
        }
        line_ << "\n  ]";
        flush();
    }

    StatisticsFormat format_;
    PutLine put_;
    void *sink_;
    const Origin *origin_;
    TextBuffer<kLineBytes> line_;
};

}  // namespace

OwnOrigin::OwnOrigin() : origin_{platform::process_id(), &command_[0], platform::is_prefixed()} {
    platform::command_line(&command_[0], sizeof command_);
    make_printable(&command_[0], std::strlen(&command_[0]));
}

void print_statistics(const gr_statistics &statistics, const HeapCount *classes, StatisticsFormat format, PutLine put,
                      void *sink, const Origin *origin) {
    Printer printer(format, put, sink, origin);
    printer.head(statistics.version);
    for (const StatisticRow &row : kStatisticRows) {
        const char *const metric = row.metric == nullptr ? row.name : row.metric;
        printer.field(row.name, metric, statistics.*row.value, row.bytes, row.meaning);
    }
    for (const EventRow &row : kEvents) {
        if (!kCounted) break;
        TextBuffer<64> metric;
        metric << row.name << "_total" << '\0';
        printer.field(row.name, metric.data(), platform::counted(row.event), false, row.meaning);
    }
    if (classes != nullptr) printer.classes(*classes);
    printer.tail();
}

void print_statistics(const Instance &allocator, Classes classes, StatisticsFormat format, PutLine put, void *sink,
                      const Origin *origin) {
    const HeapCount counted(allocator);
    gr_statistics statistics = count_statistics(allocator, counted);
    ask_resident(&statistics);
    ask_huge(&statistics);
    print_statistics(statistics, classes == Classes::yes ? &counted : nullptr, format, put, sink, origin);
}

}  // namespace gr
