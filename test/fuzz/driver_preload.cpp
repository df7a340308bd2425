// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: fuzzes any preloaded allocator through its public functions.
// Invariant: nothing but those functions is called.
// Must not know: which allocator it is.
#include "campaign.hpp"

int main(int argc, char **argv) { return gr::fuzz::drive(argc, argv, false); }
