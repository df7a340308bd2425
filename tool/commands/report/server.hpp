// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a report as a page on 127.0.0.1, until it is interrupted.
// Invariant: only who knows the address with its token is answered, and only what is asked for by GET of the host that
//    it is; no file is served.
// Must not know: what a document tells.
#pragma once

#include <cstdint>

#include "reading/trace/reader.hpp"
#include "reporting/charts/call_sites.hpp"

namespace gr::tool {

// Says where the page is, and returns once SIGINT, SIGTERM or SIGHUP comes. port 0: one of the kernel's choice. Throws Failure
// where there is no such port to be had.
void serve(const trace::Trace &trace, const Naming &naming, std::uint16_t port);

}  // namespace gr::tool
