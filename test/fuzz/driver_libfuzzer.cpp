// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the model under libFuzzer, which finds byte strings by coverage; crash files replay with fuzz_preload.
// Invariant: an input that fails aborts; bytes beyond the last whole record are ignored.
// Must not know: which allocator the program is linked with.
#include <cstdio>
#include <cstdlib>

#include "internals.hpp"
#include "model.hpp"

namespace {

using namespace gr::fuzz;

bool passes(std::span<const std::uint8_t> bytes) {
    Internals internals;
    Model model(internals.present() ? &internals : nullptr);
    bool good = true;
    for (std::size_t at = 0; good && at + kRecordBytes <= bytes.size(); at += kRecordBytes) {
        good = model.apply(decode(bytes.subspan(at).first<kRecordBytes>()));
    }
    good = good && model.finish();
    if (!good) std::fprintf(stderr, "fuzz: %s\n", model.failure());
    return good;
}

void print(std::span<const std::uint8_t> bytes) {
    for (std::size_t at = 0; at + kRecordBytes <= bytes.size(); at += kRecordBytes) {
        std::fprintf(stderr, "      %s,\n", as_cpp(decode(bytes.subspan(at).first<kRecordBytes>())).c_str());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (passes({data, size})) return 0;
    print({data, size});
    std::abort();
}
