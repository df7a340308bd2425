// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary-lab-stage: runs a script on a shown library and writes what the allocator did, step by step.
// Invariant: an error is one line on standard error: what happened, where, what to do. Exit code 2 then.
// Must not know: any allocator.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <variant>

#include "stage/actors.hpp"
#include "stage/script.hpp"
#include "stage/shown_library.hpp"

namespace {

using namespace gr::lab::stage;

constexpr int kError = 2;
constexpr std::size_t kMappedAlone = std::size_t{1} << 26;

int fail(const std::string &what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    return kError;
}

std::string at(const std::string &script, unsigned line) { return script + ':' + std::to_string(line) + ": "; }

int run(const std::string &library_path, const std::string &script_path, const std::string &output_path) {
    std::ifstream file(script_path);
    if (!file) return fail("cannot read " + script_path + ": " + std::generic_category().message(errno));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto read = read_script(text);
    if (const auto *const error = std::get_if<ScriptError>(&read))
        return fail(at(script_path, error->line) + error->what);
    const Script &script = std::get<Script>(read);
    if (script.steps.empty()) return fail(script_path + ": no step: write `1: a = malloc 64`");
    // What the user sets counts more than what the script sets. NOLINTNEXTLINE(concurrency-mt-unsafe): before all threads
    if (!script.options.empty()) setenv("GRANARY_LAB", script.options.c_str(), 0);
    const auto loaded = ShownLibrary::load(library_path.c_str());
    if (const auto *const error = std::get_if<std::string>(&loaded)) return fail(*error);
    const ShownLibrary &library = std::get<ShownLibrary>(loaded);
    const int output = open(output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output < 0) return fail("cannot write " + output_path + ": " + std::generic_category().message(errno));
    // An allocator counts the CPUs that its first caller may use, and the script's threads are bound to one each. No heap
    // has a block of this size, so the first step finds all heaps untouched.
    library.release(library.allocate(kMappedAlone));
    if (!library.show->start(output, text.c_str(), &Actors::stop)) return fail("no memory for the picture");
    Actors actors(library, script.threads);
    for (const Step &step : script.steps) {
        if (const std::string error = actors.run(step); !error.empty()) {
            const int code = fail(at(script_path, step.line) + error);
            if (actors.any_stopped()) std::_Exit(code);
            return code;
        }
    }
    if (actors.any_stopped())
        std::_Exit(
            fail(at(script_path, script.steps.back().line) + "a thread is in the middle of a call: it needs a `go`"));
    return 0;
}

}  // namespace

int main(int count, char **words) try {
    std::string library;
    std::string script;
    std::string output;
    for (int i = 1; i < count; i += 2) {
        const std::string option = words[i];
        std::string *const value = option == "--library"  ? &library
                                   : option == "--script" ? &script
                                   : option == "--output" ? &output
                                                          : nullptr;
        if (value == nullptr || i + 1 == count)
            return fail("usage: granary-lab-stage --library LIBRARY --script SCRIPT --output FILE");
        *value = words[i + 1];
    }
    if (library.empty() || script.empty() || output.empty())
        return fail("usage: granary-lab-stage --library LIBRARY --script SCRIPT --output FILE");
    return run(library, script, output);
} catch (const std::exception &error) {
    return fail(error.what());
}
