// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/diagnosis/malloc_diagnosis.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "base/variables.hpp"
#include "reading/allocators/allocators.hpp"
#include "reading/allocators/malloc_symbols.hpp"
#include "reading/process/loaded_libraries.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kNamesShown = 6;

template <class Predicate>
std::vector<std::string> select(const SymbolNames &names, Predicate predicate) {
    std::vector<std::string> result;
    for (const std::string &name : names) {
        if (predicate(name)) result.push_back(name);
    }
    return result;
}

void add_own_malloc(const MallocSymbols &symbols, Diagnosis &diagnosis) {
    if (symbols.exports("malloc") || symbols.exports("free")) {
        const auto names = select(symbols.exported, [](const std::string &name) { return is_malloc_family(name); });
        diagnosis.add(
            Weight::stops, "own-malloc",
            fmt::format("it exports its own malloc ({}); the symbols of a program come before those of a preloaded "
                        "library, so the program uses its own malloc",
                        list_text(names, kNamesShown)));
    } else if (symbols.internal.contains("malloc") && !symbols.imported.contains("malloc")) {
        diagnosis.add(Weight::limits, "own-malloc",
                      "it contains its own malloc and does not export it: the program calls its own malloc, and only "
                      "its libraries call Granary");
    }
}

// An allocator compiled in under names of its own (je_malloc, mi_malloc).
void add_bundled(const MallocSymbols &symbols, Diagnosis &diagnosis) {
    std::set<std::string_view> reported;
    const auto report = [&](const SymbolNames &names) {
        for (const std::string &name : names) {
            const std::string_view allocator = bundled_allocator(name);
            if (allocator.empty() || !reported.insert(allocator).second) continue;
            diagnosis.add(
                Weight::limits, "bundled-allocator",
                fmt::format("it contains {} (symbol {}): calls of that allocator's own functions stay with it, and "
                            "only calls of malloc go to Granary",
                            allocator, name));
        }
    };
    report(symbols.exported);
    report(symbols.internal);
}

void add_linked_allocator(const Allocator &allocator, std::string_view library, const MallocSymbols &symbols,
                          Diagnosis &diagnosis) {
    const auto own = select(symbols.imported, [&](const std::string &name) { return allocator.owns(name); });
    const auto mixing = select(symbols.imported, [&](const std::string &name) { return allocator.mixes_heaps(name); });
    const std::string linked = fmt::format("linked against {} ({})", allocator.name, library);
    if (!mixing.empty()) {
        diagnosis.add(
            Weight::stops, "linked-allocator",
            fmt::format("{}: malloc and free would be Granary's, but the program also calls {}, which stay those of "
                        "{}; a block of one allocator would be freed by the other, and Granary would abort",
                        linked, list_text(mixing, kNamesShown), allocator.name));
    } else if (!own.empty()) {
        diagnosis.add(
            Weight::limits, "linked-allocator",
            fmt::format("{}: malloc and free will be Granary's, but calls of {} still reach {}, whose heap is then "
                        "unused",
                        linked, list_text(own, kNamesShown), allocator.name));
    } else {
        diagnosis.add(Weight::note, "linked-allocator",
                      fmt::format("{}; the preloaded library comes first, so that allocator stays unused", linked));
    }
}

void add_sanitizer(const ElfFile &program, const MallocSymbols &symbols, Diagnosis &diagnosis) {
    std::string_view name;
    for (const std::string_view library : program.needed()) {
        if (name.empty()) name = sanitizer_of_library(library);
    }
    for (const auto *names : {&symbols.exported, &symbols.internal}) {
        for (const std::string &symbol : *names) {
            if (name.empty()) name = sanitizer_of_symbol(symbol);
        }
    }
    if (name.empty()) return;
    diagnosis.add(Weight::stops, "sanitizer",
                  fmt::format("built with {}, which needs its own malloc; build the program without it", name));
}

void add_operators(const MallocSymbols &symbols, Diagnosis &diagnosis) {
    if (!symbols.exports(kNewName) && !symbols.exports(kDeleteName)) return;
    diagnosis.add(Weight::note, "operator-new",
                  "it replaces operator new or delete; Granary serves the memory that these operators request from "
                  "malloc, and the forms that the program does not replace call the program's operators");
}

void add_runtimes(const ElfFile &program, const MallocSymbols &symbols, Diagnosis &diagnosis) {
    if (program.has_section(".go.buildinfo") || program.has_section(".note.go.buildid")) {
        diagnosis.add(Weight::limits, "go", "a Go program: Go has a heap of its own; only its C code calls Granary");
    }
    bool python = symbols.exports(kPythonName);
    for (const std::string_view library : program.needed()) python = python || library.starts_with("libpython");
    if (python) {
        diagnosis.add(Weight::note, "python",
                      "Python serves blocks up to 512 bytes from its own arenas; with PYTHONMALLOC=malloc Granary "
                      "serves all blocks");
    }
}

// What is opened with RTLD_DEEPBIND sees libc's malloc first.
void add_deep_binding(const MallocSymbols &symbols, Diagnosis &diagnosis) {
    const bool is_php = symbols.exports(kPhpName);
    const bool is_kept = variable("GRANARY_DEEPBIND") == "keep";
    if (is_php && is_kept) {
        diagnosis.add(
            Weight::stops, "deepbind",
            "PHP opens its extensions with RTLD_DEEPBIND, and with GRANARY_DEEPBIND=keep they use libc's malloc: the "
            "program ends when one side frees a block that the other side allocated; unset GRANARY_DEEPBIND");
    } else if (is_php) {
        diagnosis.add(Weight::note, "deepbind",
                      "PHP opens its extensions with RTLD_DEEPBIND; they use Granary's malloc nevertheless "
                      "(GRANARY_DEEPBIND)");
    } else if (is_kept && symbols.imported.contains("dlopen")) {
        diagnosis.add(
            Weight::limits, "deepbind",
            "it calls dlopen, and with GRANARY_DEEPBIND=keep the libraries that it opens with RTLD_DEEPBIND use "
            "libc's malloc");
    }
}

void add_invisible(const ElfFile &program, Diagnosis &diagnosis) {
    if (program.has_section_table()) return;
    diagnosis.add(Weight::note, "stripped", "its section table is stripped, so a malloc of its own cannot be detected");
}

void examine_library(const LoadedLibrary &library, Diagnosis &diagnosis) {
    if (library.path.empty()) {
        diagnosis.add(Weight::stops, "missing-library",
                      fmt::format("it cannot start: its library {} was not found", library.soname));
        return;
    }
    if (is_system_library(library.soname) || is_granary_library(library.soname)) return;
    if (is_other_collector(library.soname)) {
        diagnosis.add(
            Weight::note, "collector",
            fmt::format("its garbage collector is {}, which a preload does not replace; granary run --gc runs the "
                        "program on Granary's collector",
                        library.soname));
        return;
    }
    try {
        const ElfFile file(library.path);
        const bool known = allocator_of_library(library.soname) != nullptr;
        if (known || !exports_malloc(file) || !sanitizer_of_library(library.soname).empty()) return;
        if (file.is_symbolic()) {
            diagnosis.add(
                Weight::limits, "library-malloc",
                fmt::format("{} has a malloc and is linked with -Bsymbolic: the library itself calls its own malloc",
                            library.path));
        } else {
            diagnosis.add(Weight::note, "library-malloc",
                          fmt::format("{} has a malloc; the preloaded library comes first, so that malloc stays unused",
                                      library.path));
        }
    } catch (const std::system_error &error) {
        diagnosis.add(Weight::note, "unreadable",
                      fmt::format("{} cannot be read: {}", library.path, error.code().message()));
    }
}

// What a library imports; nothing when it cannot be read, which examine_library() has reported.
SymbolNames imports_of(const LoadedLibrary &library) {
    if (library.path.empty()) return {};
    try {
        return read_malloc_symbols(ElfFile(library.path)).imported;
    } catch (const std::system_error &) {
        return {};
    }
}

// An allocator that only a library of the program is linked against.
void examine_indirect(const ElfFile &program, const std::vector<LoadedLibrary> &libraries, Diagnosis &diagnosis) {
    const std::set<std::string_view> direct(program.needed().begin(), program.needed().end());
    for (const LoadedLibrary &library : libraries) {
        const Allocator *allocator = allocator_of_library(library.soname);
        if (allocator == nullptr || direct.contains(library.soname)) continue;
        MallocSymbols all;
        for (const LoadedLibrary &user : libraries) {
            if (allocator_of_library(user.soname) != allocator) all.imported.merge(imports_of(user));
        }
        add_linked_allocator(*allocator, library.soname, all, diagnosis);
    }
}

}  // namespace

void examine_own_malloc(const ElfFile &program, Diagnosis &diagnosis) {
    const MallocSymbols symbols = read_malloc_symbols(program);
    bool linked = symbols.contain_granary();
    for (const std::string_view library : program.needed()) linked = linked || is_granary_library(library);
    if (linked) {
        diagnosis.success = kLinkedWithGranary;
        return;
    }
    add_sanitizer(program, symbols, diagnosis);
    add_own_malloc(symbols, diagnosis);
    add_bundled(symbols, diagnosis);
    for (const std::string_view library : program.needed()) {
        const Allocator *allocator = allocator_of_library(library);
        if (allocator != nullptr) add_linked_allocator(*allocator, library, symbols, diagnosis);
    }
    add_operators(symbols, diagnosis);
    add_runtimes(program, symbols, diagnosis);
    add_deep_binding(symbols, diagnosis);
    add_invisible(program, diagnosis);
}

void examine_libraries(const ElfFile &program, const std::string &path, Diagnosis &diagnosis) {
    const std::optional<std::vector<LoadedLibrary>> libraries = loaded_libraries(path);
    if (!libraries) {
        diagnosis.add(Weight::note, "libraries-unknown",
                      "the loader could not list its libraries, so they were not examined");
        return;
    }
    for (const LoadedLibrary &library : *libraries) examine_library(library, diagnosis);
    examine_indirect(program, *libraries, diagnosis);
}

}  // namespace gr::tool
