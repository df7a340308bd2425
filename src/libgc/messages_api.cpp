// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions by which clients print and set procedures for warnings, the log and the abort message.
// Invariant: a procedure may be called while the lock is held, so procedures are read without the lock.
// Must not know: what the messages say.
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"

extern "C" {

GR_EXPORT void GC_set_warn_proc(GC_warn_proc warn) { gr::set_locked(gr::messages.warn, warn); }
GR_EXPORT GC_warn_proc GC_get_warn_proc() { return gr::get_locked(gr::messages.warn); }
GR_EXPORT void GC_ignore_warn_proc(char *format, GC_word argument) {
    if (gr::messages.verbosity != gr::Verbosity::silent) gr::write_warning(format, argument);
}

GR_EXPORT void GC_set_log_fd(int fd) { gr::messages.log = fd; }

GR_EXPORT void GC_set_abort_func(GC_abort_func function) { gr::set_locked(GC_on_abort, function); }
GR_EXPORT GC_abort_func GC_get_abort_func() { return gr::get_locked(GC_on_abort); }

GR_EXPORT void GC_abort_on_oom() {
    gr::TextBuffer<64> line;
    line << "GC_abort_on_oom: no memory for an object; exiting\n";
    gr::write_line(gr::messages.errors, line);
    gr::die_without_memory();
}

GR_EXPORT void GC_printf(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const bool written = gr::print(gr::messages.output, format, arguments);
    va_end(arguments);
    if (!written) gr::die("write to the output failed");
}
GR_EXPORT void GC_err_printf(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    gr::print(gr::messages.errors, format, arguments);
    va_end(arguments);
}
GR_EXPORT void GC_log_printf(const char *format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const bool written = gr::print(gr::messages.log, format, arguments);
    va_end(arguments);
    if (!written) gr::die("write to the log failed");
}

}  // extern "C"
