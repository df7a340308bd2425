// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where libgranary.so is, and how it gets into a program.
// Invariant: what is put into LD_PRELOAD is an absolute path, or a name the loader has just been seen to find. The
//    paths that the functions return are the real ones; see loader_path.hpp for those that the variables hold.
// Must not know: which program is started.
#pragma once

#include <string>

namespace gr::tool {

// The library to preload: requested when that is not empty, else the one of this build or installation, else the
// loader's. Throws Failure (kToolFailure).
[[nodiscard]] std::string find_library(const std::string &requested);

// Puts the library in front of LD_PRELOAD in this process' environment.
void preload(const std::string &library);

// The library beside it whose malloc is the collector's. Throws Failure.
[[nodiscard]] std::string collecting_library(const std::string &library);

// The library beside it that tells `granary record` what is allocated. Throws Failure.
[[nodiscard]] std::string recorder_library();

// The folder of the lab's libraries: this build's or installation's; empty: there is none.
[[nodiscard]] std::string lab_folder();

// The collector's libgc.so.1, which lies in a folder beside the library, is found before the system's. Throws Failure.
void put_collector_first(const std::string &library);

}  // namespace gr::tool
