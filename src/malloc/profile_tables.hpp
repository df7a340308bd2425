// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells tools outside the process where the sums of its profile lie (granary/wire/profile_tables.h).
// Invariant: nothing in the process reads it.
// Must not know: what a tool makes of the sums.
#pragma once

#include "profile/profile.hpp"

namespace gr {

// Called again each time that the profile begins anew; one caller at a time.
void publish_tables(const Profile &profile);

}  // namespace gr
