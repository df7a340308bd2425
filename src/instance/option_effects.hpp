// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the options that gr_option_set may change do to the running allocator; see OptionEffect.
// Invariant: an effect that fails has changed nothing.
// Must not know: names of options, how values are parsed.
#pragma once

#include "instance/options.hpp"
#include "platform/process.hpp"

namespace gr {

int change_statistics(const Options &wanted);
int change_retention(const Options &wanted);
int change_direct(const Options &wanted);
int change_magazines(const Options &wanted);
int change_limits(const Options &wanted);
int change_background(const Options &wanted);
// Does nothing: the code that needs the value reads it then.
int change_value_only(const Options &wanted);

// Where the statistics at exit go: standard error as it was when they were first requested.
extern platform::KeptStderr statistics_output;

}  // namespace gr
