// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/granary.h.
// Invariant: each does what granary/granary.h promises.
// Must not know: how anything is counted or found.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "instance/background.hpp"
#include "instance/instances.hpp"
#include "instance/statistics_text.hpp"
#include "instance/utilization.hpp"
#include "instance/walk.hpp"
#include "malloc/c_api.hpp"
#include "malloc/sampled.hpp"
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

int or_errno(int error) {
    if (error == 0) return 0;
    errno = error;
    return -1;
}

int result_of(const Sink &sink) { return or_errno(static_cast<int>(-sink.error)); }

gr::StatisticsFormat format_of(gr_format format) {
    if (format == GR_PROMETHEUS) return gr::StatisticsFormat::prometheus;
    return format == GR_JSON ? gr::StatisticsFormat::json : gr::StatisticsFormat::text;
}

// NULL is the heap of malloc.
gr::Instance &instance_of_heap(gr_heap *heap) { return heap == nullptr ? gr::instance : heap->instance; }

}  // namespace

extern "C" {

uint32_t gr_version() { return GR_VERSION; }

int gr_statistics_get(gr_statistics *out) { return or_errno(gr::copy_statistics(gr::instance, out) ? 0 : EINVAL); }

int gr_class_statistics_get(gr_heap *heap, gr_class_statistics *rows, size_t capacity) {
    if (!gr::copy_rows(instance_of_heap(heap), rows, capacity)) return or_errno(EINVAL);
    return gr::HeapCount::kRows;
}

int gr_statistics_every(unsigned milliseconds, void (*call)(void *context, const gr_statistics *statistics),
                        void *context) {
    gr::instance.ensure_started();
    return or_errno(gr::background.call_every(milliseconds, call, context));
}

int gr_statistics_print(int fd, gr_format format) {
    Sink sink{fd, 0};
    gr::print_statistics(gr::instance, gr::Classes::yes, format_of(format), put, &sink);
    return result_of(sink);
}

size_t gr_trim(size_t keep_bytes) { return gr::trim_for_program(keep_bytes); }

void gr_on_pressure(void (*call)(void *context, size_t held_bytes), void *context) {
    gr::instance.on_pressure(call, context);
}

size_t gr_good_size(size_t size) {
    gr::instance.ensure_started();
    return gr::instance.good_size(size);
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
    gr::OptionText room;
    const auto found = name == nullptr ? std::nullopt : gr::option_value(gr::instance.options(), name, &room);
    if (!found) return or_errno(ENOENT);
    if (capacity != 0) {
        const std::size_t copied = std::min(found->size(), capacity - 1);
        std::memcpy(value, found->data(), copied);
        value[copied] = '\0';
    }
    return static_cast<int>(found->size());
}

int gr_option_set(const char *name, const char *value) { return or_errno(gr::set_option(name, value)); }

int gr_heap_walk(gr_heap *heap, int (*call)(void *context, void *block, size_t usable_size), void *context) {
    if (call == nullptr) return or_errno(EINVAL);
    gr::Walk walk(call, context);
    walk.visit(instance_of_heap(heap));
    if (heap == nullptr && gr::sampled.is_on()) walk.visit(gr::sampled.beside());
    return walk.error() == 0 ? walk.said() : or_errno(walk.error());
}

const char *gr_debug_check() { return gr::instances.first_fault(); }

}  // extern "C"
