// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "recorder/handed_on.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "granary/wire/recording.h"
#include "platform/process.hpp"
#include "recorder/recording.hpp"

namespace gr {
namespace {

constexpr const char *kPreload = "LD_PRELOAD";

bool has_name(const char *entry, const char *name) {
    const std::size_t length = std::strlen(name);
    return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

const char *value_of(const char *entry) { return std::strchr(entry, '=') + 1; }

// Where the text ends, with a zero.
char *append(char *to, const char *text) {
    const std::size_t length = std::strlen(text);
    std::memcpy(to, text, length + 1);
    return to + length;
}

void keep(const char *name, char *entry, std::size_t room) {
    const char *const value = platform::variable(name);
    if (value == nullptr || std::strlen(name) + 1 + std::strlen(value) + 1 > room) return;
    append(append(append(entry, name), "="), value);
}

const char *entry_of(const char *const *environment, const char *name) {
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        if (has_name(*environment, name)) return *environment;
    }
    return nullptr;
}

}  // namespace

void HandedOn::learn() {
    if (platform::variable(GR_RECORDING_PATH) == nullptr) return;
    keep(kPreload, &preload_[0], sizeof preload_);
    keep(GR_RECORDING_PATH, &recording_[0], sizeof recording_);
}

bool HandedOn::is_in_force() const {
    return preload_[0] != '\0' && recording_[0] != '\0' && recording.is_mapped() && recording.recorder_lives();
}

bool HandedOn::is_within_reach() const {
    const uid_t user = geteuid();
    if (user == 0) return true;
    const int errno_before = errno;
    char files[kMostBytes];  // "/proc/ID/fd", which belongs to the recorder's user
    append(&files[0], value_of(&recording_[0]));
    if (char *const slash = std::strrchr(&files[0], '/')) *slash = '\0';
    struct stat status {};
    const bool is_known = stat(&files[0], &status) == 0;
    errno = errno_before;
    return !is_known || status.st_uid == user;
}

HandedOn::Lack HandedOn::lack_of(const char *const *environment) const {
    Lack lack;
    if (!is_in_force()) return lack;
    const char *const preload = entry_of(environment, kPreload);
    const char *const path = entry_of(environment, GR_RECORDING_PATH);
    lack.preload = preload == nullptr || std::strstr(preload, value_of(&preload_[0])) == nullptr;
    lack.recording = path == nullptr || std::strcmp(path, &recording_[0]) != 0;
    lack.preload_bytes = std::strlen(&preload_[0]) + 1;
    for (; environment != nullptr && environment[lack.entries] != nullptr; ++lack.entries) {
        const char *const entry = environment[lack.entries];
        if (has_name(entry, kPreload)) lack.preload_bytes += std::strlen(entry);  // there may be several
    }
    return lack;
}

void HandedOn::complete(const char *const *environment, const Lack &lack, const char **entries, char *preload) const {
    char *end = append(preload, &preload_[0]);
    for (std::size_t i = 0; i < lack.entries; ++i) {
        const char *const entry = environment[i];
        if (lack.recording && has_name(entry, GR_RECORDING_PATH)) continue;
        if (lack.preload && has_name(entry, kPreload)) {
            // The program's own libraries follow, as where this process was started.
            if (*value_of(entry) != '\0') end = append(append(end, ":"), value_of(entry));
            continue;
        }
        *entries++ = entry;
    }
    if (lack.preload) *entries++ = preload;
    if (lack.recording) *entries++ = &recording_[0];
    *entries = nullptr;
}

}  // namespace gr
