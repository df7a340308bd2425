// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: kinds and mark procedures that are made at run time, by clients and for them.
// Invariant: numbers are given in turn and for ever; beyond the documented bounds the process ends.
// Must not know: what they are for.
#pragma once

#include "libgc/standard_kinds.hpp"

namespace gr {

inline constexpr unsigned kMostClientKinds = 16;  // with the standard ones
inline constexpr unsigned kReservedProcedures = 8;
// Those that the library uses itself.
enum ReservedProcedure : unsigned { kGcjProcedure = 0, kBitmapProcedure = 1, kArrayProcedure = 2 };

// With the lock.
unsigned make_client_kind(const KindSetup &setup);
unsigned make_procedure(MarkProcedure procedure);
// A client's, for a number that is not given in turn.
void set_procedure(unsigned number, MarkProcedure procedure);
// Whether any is a client's.
bool has_client_procedures();

constexpr Descriptor procedure_descriptor(unsigned procedure, std::uintptr_t environment) {
    constexpr unsigned kForm = 2;
    return Descriptor(((environment << Descriptor::kProcedureBits | procedure) << 2) | kForm);
}

}  // namespace gr
