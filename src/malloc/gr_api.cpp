// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/granary.h.
// Invariant: as promised there.
// Must not know: how anything is counted or found.
#include <cerrno>
#include <cstring>

#include "malloc/c_api.hpp"
#include "malloc/instances.hpp"
#include "malloc/sampled.hpp"
#include "malloc/statistics.hpp"
#include "malloc/utilization.hpp"
#include "platform/process.hpp"

namespace {

struct Sink {
    int fd;
    long error;
};

void put(void *sink, const gr::Text &line) {
    Sink &to = *static_cast<Sink *>(sink);
    if (to.error == 0) to.error = gr::platform::write_all(to.fd, line.data(), line.size());
}

int result_of(const Sink &sink) {
    if (sink.error == 0) return 0;
    errno = static_cast<int>(-sink.error);
    return -1;
}

}  // namespace

extern "C" {

uint32_t gr_version() { return GR_VERSION; }

int gr_statistics_get(gr_statistics *out) {
    if (gr::copy_statistics(gr::instance, out)) return 0;
    errno = EINVAL;
    return -1;
}

int gr_statistics_print(int fd, gr_format format) {
    Sink sink{fd, 0};
    const auto as = format == GR_JSON ? gr::StatisticsFormat::json : gr::StatisticsFormat::text;
    gr::print_statistics(gr::snapshot(gr::instance), as, put, &sink);
    return result_of(sink);
}

size_t gr_trim(size_t keep_bytes) { return gr::trim_for_program(keep_bytes); }

void gr_on_pressure(void (*call)(void *context, size_t held_bytes), void *context) {
    gr::instance.on_pressure(call, context);
}

int gr_owns(const void *pointer) { return gr::instance_of(pointer).owns(pointer) ? 1 : 0; }

int gr_page_utilization(const void *pointer, gr_utilization *out) {
    if (out != nullptr && gr::find_utilization(gr::instance_of(pointer), pointer, out)) return 0;
    errno = EINVAL;
    return -1;
}

int gr_options_print(int fd, gr_format format) {
    gr::instance.ensure_started();
    Sink sink{fd, 0};
    gr::print_options(gr::instance.options(), format == GR_JSON, put, &sink);
    return result_of(sink);
}

int gr_option_get(const char *name, char *value, size_t capacity) {
    gr::instance.ensure_started();
    gr::TextBuffer<64> text;
    if (name == nullptr || !gr::option_value(gr::instance.options(), name, &text)) {
        errno = ENOENT;
        return -1;
    }
    if (capacity != 0) {
        const std::size_t copied = text.size() < capacity ? text.size() : capacity - 1;
        std::memcpy(value, text.data(), copied);
        value[copied] = '\0';
    }
    return static_cast<int>(text.size());
}

const char *gr_debug_check() { return gr::instances.first_fault(); }

}  // extern "C"
