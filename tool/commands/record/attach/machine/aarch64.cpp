// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: machine.hpp for aarch64, where no process is made to call anything yet.
// Invariant: can_call_remotely() says so, and nobody asks further.
// Must not know: why the thread is stopped.
#include "commands/record/attach/machine/machine.hpp"

namespace gr::tool {

bool can_call_remotely() { return false; }
std::string_view system_call_code() { return {}; }
std::string_view trap_code() { return {}; }
std::string_view signal_return_code() { return {}; }
std::uint64_t interrupted_place_offset() { return 0; }

std::uint32_t filter_architecture() { return 0; }
std::span<const long> older_waiting_calls() { return {}; }
std::span<const long> older_calls_that_any_stop_ends() { return {}; }

std::optional<Registers> Registers::of(int) { return std::nullopt; }
bool Registers::set(int) const { return false; }
std::uint64_t Registers::code() const { return 0; }
std::uint64_t Registers::stack() const { return 0; }
std::int64_t Registers::result() const { return 0; }
std::optional<long> Registers::call() const { return std::nullopt; }
std::uint64_t Registers::argument(unsigned) const { return 0; }
void Registers::repeat_call() {}
void Registers::prepare_system_call(std::uint64_t, long, const Arguments &) {}
void Registers::prepare_function(std::uint64_t, std::uint64_t, const Arguments &) {}
std::optional<std::uint64_t> Registers::returned_to_trap(std::uint64_t, std::uint64_t) const { return std::nullopt; }
std::optional<std::uint64_t> Registers::returned_to_call(std::uint64_t, std::uint64_t) const { return std::nullopt; }
void Registers::make_call_harmless() {}
std::optional<VectorRegisters> VectorRegisters::of(int) { return std::nullopt; }
bool VectorRegisters::set(int) const { return false; }

}  // namespace gr::tool
