// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: fuzzes Granary and checks its structures and statistics after each step.
// Invariant: fails when the allocator is not Granary, rather than check less.
// Must not know: Granary's sources.
#include "campaign.hpp"

int main(int argc, char **argv) { return gr::fuzz::drive(argc, argv, true); }
