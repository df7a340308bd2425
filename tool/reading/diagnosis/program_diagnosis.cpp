// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether a program can be started with a preload at all: what kind of file it is, and who may run it.
// Invariant: examines the file that the kernel would load in the end: a script's interpreter, not the script.
// Must not know: whose malloc wins (doctor_malloc).
#include "reading/diagnosis/program_diagnosis.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/allocators/malloc_symbols.hpp"
#include "reading/diagnosis/malloc_diagnosis.hpp"
#include "reading/process/elf_file.hpp"
#include "reading/process/loaded_libraries.hpp"
#include "reading/process/program.hpp"

namespace gr::tool {

namespace {

constexpr const char *kShell = "/bin/sh";
constexpr int kDeepestScript = 5;  // Linux gives up there too

bool examine_permission(const std::string &path, Diagnosis &diagnosis) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        diagnosis.add(Weight::stops, "unreadable",
                      fmt::format("{} cannot be examined: {}", path, std::generic_category().message(errno)));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        diagnosis.add(Weight::stops, "not-executable", fmt::format("{} is not a regular file", path));
        return false;
    }
    if (::access(path.c_str(), X_OK) != 0) {
        diagnosis.add(Weight::stops, "not-executable", fmt::format("{} may not be executed; see chmod(1)", path));
    }
    return true;
}

// The kernel ignores set-uid bits and capabilities on such file systems.
bool is_without_set_uid(const std::string &path) {
    struct statvfs status {};
    return ::statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_NOSUID) != 0;
}

// A program that gains rights by being started runs in the loader's secure mode, unless the one who starts it has
// those rights already.
void examine_privilege(const std::string &path, Diagnosis &diagnosis) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return;
    if (is_without_set_uid(path)) {
        if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) {
            diagnosis.add(Weight::note, "nosuid", "set-uid or set-gid, but its file system is mounted nosuid");
        }
        return;
    }
    const bool set_uid = (status.st_mode & S_ISUID) != 0;
    const bool set_gid = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0;
    const bool capable = ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
    const auto report = [&](bool present, bool gains, const char *kind, const std::string &what) {
        if (!present) return;
        constexpr const char *kWhy = "the loader ignores LD_PRELOAD in programs that gain privileges";
        if (gains) {
            diagnosis.add(Weight::stops, kind, fmt::format("{}: {}; it runs on its own malloc", what, kWhy));
        } else {
            diagnosis.add(
                Weight::limits, kind,
                fmt::format("{}: works for you, because you have these privileges already; for other users {}", what,
                            kWhy));
        }
    };
    report(set_uid, status.st_uid != ::getuid(), "set-uid", fmt::format("set-uid (user {})", status.st_uid));
    report(set_gid, status.st_gid != ::getgid(), "set-gid", fmt::format("set-gid (group {})", status.st_gid));
    report(capable, ::getuid() != 0, "file-capabilities", "has file capabilities");
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

void examine_static(const ElfFile &file, Diagnosis &diagnosis) {
    if (contains_granary(file)) {
        diagnosis.success = kLinkedWithGranary;
        return;
    }
    const bool go = file.has_section(".go.buildinfo") || file.has_section(".note.go.buildid");
    if (file.type() == ET_DYN && !file.is_pie() && !go) {
        diagnosis.add(Weight::stops, "shared-library",
                      "a shared library, not a program; ask about the program that loads it");
    } else if (go) {
        diagnosis.add(Weight::stops, "static-go",
                      "a static Go program: it has no loader that could preload a library, and Go has its own heap");
    } else {
        const bool pie = file.type() == ET_DYN;
        diagnosis.add(
            Weight::stops, pie ? "static-pie" : "static",
            fmt::format("{}: it has no loader that could preload a library; link it with libgranary.a instead",
                        pie ? "static-pie" : "static"));
    }
}

bool examine_format(const ElfFile &file, Diagnosis &diagnosis) {
    if (file.format() == ElfFormat::none) {
        diagnosis.add(Weight::stops, "not-elf", "neither an ELF program nor a script with a #! line");
    } else if (file.format() == ElfFormat::foreign) {
        diagnosis.add(
            Weight::stops, "other-machine",
            fmt::format("built for {}; the library must be built for that machine, too", file.machine_text()));
    } else if (file.type() != ET_EXEC && file.type() != ET_DYN) {
        diagnosis.add(Weight::stops, "not-a-program", "an ELF file, but not a program (an object file or a core dump)");
    } else if (file.interpreter().empty()) {
        examine_static(file, diagnosis);
    } else {
        return true;
    }
    return false;
}

bool examine_loader(const ElfFile &file, Diagnosis &diagnosis) {
    const std::string loader(file.interpreter());
    if (file_name(loader).starts_with("ld-musl-")) {
        diagnosis.add(
            Weight::stops, "musl",
            fmt::format("built for musl ({}); a libgranary.so built for glibc cannot be loaded into it", loader));
        return false;
    }
    if (::access(loader.c_str(), F_OK) != 0) {
        diagnosis.add(Weight::stops, "no-loader",
                      fmt::format("it cannot start: its loader {} is not installed", loader));
        return false;
    }
    if (file_name(loader) != file_name(own_loader())) {
        diagnosis.add(
            Weight::limits, "other-loader",
            fmt::format("its loader is {}, not this system's {}; it may not accept the library", loader, own_loader()));
    }
    return true;
}

// execvp(3), and so granary run, hands a text without a #! line to the shell.
bool is_plain_script(const ElfFile &file) {
    return file.format() == ElfFormat::none && file.script_line().empty() && file.looks_like_text();
}

void examine_elf(const ElfFile &file, const std::string &path, Depth depth, Diagnosis &diagnosis) {
    examine_privilege(path, diagnosis);
    if (!examine_format(file, diagnosis) || !examine_loader(file, diagnosis)) return;
    examine_own_malloc(file, diagnosis);
    if (depth == Depth::libraries) examine_libraries(file, path, diagnosis);
}

// What the script at diagnosis.path is run by becomes the path; false when nothing more can be followed.
bool follow_script(const ElfFile &script, Diagnosis &diagnosis) {
    const std::string program = is_plain_script(script) ? kShell : script_program(script.script_line());
    if (program.empty()) {
        diagnosis.add(Weight::stops, "not-a-program", "a script whose #! line names no interpreter");
        return false;
    }
    try {
        const std::string next = find_program(program);
        diagnosis.add(
            Weight::note, "script",
            fmt::format("{} is a script, run by {}; the rest is about that interpreter", diagnosis.path, next));
        diagnosis.path = next;
    } catch (const Failure &) {
        diagnosis.add(Weight::stops, "no-interpreter",
                      fmt::format("a script, but its interpreter {} is missing", program));
        return false;
    }
    return true;
}

}  // namespace

Diagnosis diagnose_program(const std::string &name, Depth depth) {
    Diagnosis diagnosis{.subject = name,
                        .path = find_program(name),
                        .process = std::nullopt,
                        .success = "it can run on Granary, which will provide its malloc and free",
                        .findings = {}};
    for (int level = 0; level < kDeepestScript; ++level) {
        if (!examine_permission(diagnosis.path, diagnosis)) return diagnosis;
        try {
            const ElfFile file(diagnosis.path);
            if (file.script_line().empty() && !is_plain_script(file)) {
                examine_elf(file, diagnosis.path, depth, diagnosis);
                return diagnosis;
            }
            if (!follow_script(file, diagnosis)) return diagnosis;
        } catch (const std::system_error &error) {
            examine_privilege(diagnosis.path, diagnosis);
            diagnosis.add(Weight::stops, "unreadable",
                          fmt::format("{} cannot be read, so nothing is known about it: {}", diagnosis.path,
                                      error.code().message()));
            return diagnosis;
        }
    }
    diagnosis.add(Weight::stops, "not-a-program", "a script that is run by a script, nested too deeply");
    return diagnosis;
}

}  // namespace gr::tool
