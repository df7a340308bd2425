// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what Hoard's paper claims of it (000, 3.3): threads do not share lines.
// Invariant: told by addresses, never by time.
// Must not know: how superblocks move.
#include "lab/claims/named_hoard.hpp"
#include "lab/claims/sharing.hpp"

namespace gr::lab::hoard_sharing_test {

// Two threads whose numbers follow each other have two heaps.
TEST(HoardSharing, ThreadsWithHeapsOfTheirOwnDoNotShareActively) { EXPECT_EQ(actively_shared<Chosen>(), 0U); }

TEST(HoardSharing, WhatIsFreedElsewhereGoesBackToItsSuperblock) { EXPECT_EQ(passively_shared<Chosen>(), 0U); }

}  // namespace gr::lab::hoard_sharing_test
