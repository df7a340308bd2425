// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/client_kinds.hpp"

#include "libgc/messages.hpp"

namespace gr {
namespace {

constinit unsigned next_procedure = kReservedProcedures;
constinit bool is_any_set = false;

}  // namespace

unsigned make_client_kind(const KindSetup &setup) {
    if (collector.kind_count() >= kMostClientKinds) die("GC_new_kind: all kinds of objects are in use");
    const Kind *const kind = collector.make_kind(setup);
    if (kind == nullptr) die_without_memory();
    return kind->number;
}

unsigned make_procedure(MarkProcedure procedure) {
    if (next_procedure == Descriptor::kMostProcedures) die("GC_new_proc: all mark procedures are in use");
    set_procedure(next_procedure, procedure);
    return next_procedure++;
}

void set_procedure(unsigned number, MarkProcedure procedure) {
    collector.procedures()[number] = procedure;
    is_any_set = true;
}

bool has_client_procedures() { return is_any_set; }

}  // namespace gr
