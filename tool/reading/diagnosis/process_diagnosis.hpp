// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which malloc a running process uses.
// Invariant: the process is neither stopped nor traced.
// Must not know: how a diagnosis is shown.
#pragma once

#include "reading/diagnosis/diagnosis.hpp"

namespace gr::tool {

// Throws Failure: kNotFound when there is no such process, kToolFailure when it may not be looked at.
[[nodiscard]] Diagnosis diagnose_process(int process);

}  // namespace gr::tool
