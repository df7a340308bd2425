// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the check of an option's value that is a whole number above 0.
// Invariant: a value that is none is named in the error line, with what is expected.
// Must not know: the options.
#pragma once

#include <CLI/CLI.hpp>

namespace gr::tool {

[[nodiscard]] CLI::Validator positive_whole_number();

}  // namespace gr::tool
