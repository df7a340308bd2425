// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: glibc's introspection of malloc, answered for this heap: mallinfo, malloc_info, malloc_stats, malloc_trim,
//    mallopt.
// Invariant: numbers are the ones of gr_statistics, sorted into glibc's fields.
// Must not know: how statistics are counted.
#include <malloc.h>
#include <stdio.h>

#include <cerrno>
#include <climits>

#include "instance/statistics_text.hpp"
#include "malloc/c_api.hpp"
#include "malloc/sampled.hpp"
#include "platform/process.hpp"

namespace {

int as_int(std::size_t n) { return n > INT_MAX ? INT_MAX : static_cast<int>(n); }

void put_stderr(void *, const gr::Text &line) { gr::platform::write_all(2, line.data(), line.size()); }

void put_file(void *file, const gr::Text &line) { fwrite(line.data(), 1, line.size(), static_cast<FILE *>(file)); }

}  // namespace

extern "C" {

GR_EXPORT struct mallinfo2 mallinfo2() {
    const gr_statistics s = gr::count_statistics(gr::instance);
    struct mallinfo2 info {};
    info.arena = s.heap_bytes + s.retained_bytes;
    info.ordblks = s.free_blocks;
    info.smblks = s.magazine_blocks;
    info.hblks = s.direct_count;
    info.hblkhd = s.direct_bytes;
    info.fsmblks = s.magazine_bytes;
    info.uordblks = s.live_bytes - s.direct_bytes;
    // Other threads may have allocated between the two counts.
    info.fordblks = info.arena > info.uordblks ? info.arena - info.uordblks : 0;
    info.keepcost = s.retained_bytes;
    return info;
}

GR_EXPORT struct mallinfo mallinfo() {
    const struct mallinfo2 wide = mallinfo2();
    struct mallinfo info {};
    info.arena = as_int(wide.arena);
    info.ordblks = as_int(wide.ordblks);
    info.smblks = as_int(wide.smblks);
    info.hblks = as_int(wide.hblks);
    info.hblkhd = as_int(wide.hblkhd);
    info.fsmblks = as_int(wide.fsmblks);
    info.uordblks = as_int(wide.uordblks);
    info.fordblks = as_int(wide.fordblks);
    info.keepcost = as_int(wide.keepcost);
    return info;
}

GR_EXPORT int malloc_info(int options, FILE *file) {
    if (options != 0) {
        errno = EINVAL;
        return -1;
    }
    fputs("<malloc version=\"granary-1\">\n", file);
    gr::print_statistics(gr::instance, gr::Classes::no, gr::StatisticsFormat::xml, put_file, file);
    fputs("</malloc>\n", file);
    return 0;
}

GR_EXPORT void malloc_stats() {
    gr::print_statistics(gr::instance, gr::Classes::no, gr::StatisticsFormat::text, put_stderr, nullptr);
}

GR_EXPORT int malloc_trim(std::size_t pad) { return gr::trim_for_program(pad) != 0 ? 1 : 0; }

// Accepted and without effect: nothing that glibc tunes exists here. The options are in granary-options(7).
GR_EXPORT int mallopt(int, int) { return 1; }

}  // extern "C"
