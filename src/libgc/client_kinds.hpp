// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: kinds and mark procedures that are made at run time, by clients and by the library for its own functions.
// Invariant: numbers are given in turn and never again; beyond the documented bounds the process ends.
// Must not know: what the kinds and procedures are for.
#pragma once

#include "libgc/standard_kinds.hpp"

namespace gr {

inline constexpr unsigned kMostClientKinds = 16;  // the standard kinds included
inline constexpr unsigned kReservedProcedures = 8;
// The procedures that the library itself uses.
enum ReservedProcedure : unsigned { kGcjProcedure = 0, kBitmapProcedure = 1, kArrayProcedure = 2 };

// The caller holds the lock.
unsigned make_client_kind(const KindSetup &setup);
unsigned make_procedure(MarkProcedure procedure);
// Sets a client's procedure under a number that the client has chosen.
void set_procedure(unsigned number, MarkProcedure procedure);
// Whether a client has set any procedure.
bool has_client_procedures();

constexpr Descriptor procedure_descriptor(unsigned procedure, std::uintptr_t environment) {
    constexpr unsigned kForm = 2;
    return Descriptor(((environment << Descriptor::kProcedureBits | procedure) << 2) | kForm);
}

}  // namespace gr
