// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "reading/symbols/library_code.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace gr::tool {

namespace {

constexpr std::array kAllocations = {
    "malloc",  "calloc",  "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
    "valloc",  "pvalloc", "cfree",   "operator new", "operator new[]", "__rust_alloc*", "__rustc::__rust_*",
    "__rdl_*", "__rg_*",  "_mi_*",   "mi_malloc*",   "je_malloc*",     "gr_*",          "tc_*",
};

// The standard libraries of C++, Rust and D, and what lies under them.
constexpr std::array kFunctions = {
    "std::*",   "__gnu_cxx::*", "__cxxabiv1::*", "core::*",           "alloc::*",  "hashbrown::*", "<std::*",
    "<core::*", "<alloc::*",    "<hashbrown::*", "rust_begin_unwind", "core.*",    "rt.*",         "object.*",
    "_d_new*",  "_d_array*",    "_d_alloc*",     "gc_malloc",         "gc_qalloc", "gc_calloc",    "__gthread_*",
    "_Znw*",    "_Zna*",
};

constexpr std::array kFiles = {
    "libc.so*",         "libc-2*.so",       "ld-linux*.so*",    "ld-musl*.so*",    "libpthread*.so*",
    "libstdc++.so*",    "libc++.so*",       "libc++abi.so*",    "libstd-*.so",     "libphobos2.so*",
    "libgphobos.so*",   "libdruntime*.so*", "libgdruntime.so*", "libgranary*.so*", "libjemalloc.so*",
    "libmimalloc*.so*", "libtcmalloc*.so*", "libsnmalloc*.so*", "linux-vdso.so*",
};

// Where the sources of these libraries lie, whose functions are put into the program's code.
constexpr std::array kSources = {"*/include/c++/*", "/rustc/*/library/*", "*/rustlib/src/rust/library/*",
                                 "*/include/d/*"};

const char *text_of(const char *pattern) { return pattern; }
const char *text_of(const std::string &pattern) { return pattern.c_str(); }

template <class Patterns>
bool matches_any(const Patterns &patterns, const std::string &name) {
    return std::ranges::any_of(
        patterns, [&](const auto &pattern) { return fnmatch(text_of(pattern), name.c_str(), FNM_NOESCAPE) == 0; });
}

constexpr std::string_view kOperator = "operator";

bool is_part_of_a_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '$';
}

bool begins_operator(std::string_view name, std::size_t at) {
    const std::size_t behind = at + kOperator.size();
    return name.substr(at).starts_with(kOperator) && (at == 0 || !is_part_of_a_word(name[at - 1])) &&
           (behind == name.size() || !is_part_of_a_word(name[behind]));
}

// Behind "operator": "()", "<", "<<=", "->", " new[]", " bool".
std::size_t end_of_operator(std::string_view name, std::size_t at) {
    if (name.substr(at).starts_with("()")) return at + 2;
    if (at < name.size() && name[at] == ' ') {
        at = name.find_first_of("(<", at);
        return at == std::string_view::npos ? name.size() : at;
    }
    for (const std::string_view symbol : {"<<=", "<=>", "<<", "<=", "<"}) {
        if (name.substr(at).starts_with(symbol)) return at + symbol.size();
    }
    const std::size_t end = name.find_first_not_of(">=-+*/%^&|~!,[]", at);  // arguments of a template may follow
    return end == std::string_view::npos ? name.size() : end;
}

constexpr std::string_view kAnonymous = "(anonymous namespace)";

}  // namespace

// The arguments begin at the first parenthesis outside of all brackets that does not belong to a name; what stands before the
// last blank outside of brackets is the type that is returned.
std::string_view qualified_name(std::string_view function) {
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t at = 0; at < function.size();) {
        if (depth == 0 && begins_operator(function, at)) {
            at = end_of_operator(function, at + kOperator.size());
            if (function.substr(at).starts_with(" <")) ++at;  // of a template
            continue;
        }
        if (function.substr(at).starts_with(kAnonymous)) {
            at += kAnonymous.size();
            continue;
        }
        const char letter = function[at];
        if (letter == '<' || letter == '{' || letter == '[') {
            ++depth;
        } else if (letter == '>' || letter == '}' || letter == ']') {
            if (!(letter == '>' && at != 0 && function[at - 1] == '-')) depth -= depth > 0 ? 1 : 0;
        } else if (letter == '(') {
            const std::string_view before = function.substr(0, at);
            const bool is_type = before.ends_with("decltype") || before.ends_with("decltype ");
            if (depth == 0 && !is_type) return function.substr(begin, at - begin);
            ++depth;
        } else if (letter == ')') {
            depth -= depth > 0 ? 1 : 0;
        } else if (letter == ' ' && depth == 0) {
            if (function.substr(at + 1).starts_with("[clone")) return function.substr(begin, at - begin);
            begin = at + 1;
        }
        ++at;
    }
    return function.substr(begin);
}

bool LibraryCode::is_allocation(const Call &call) {
    return matches_any(kAllocations, std::string(qualified_name(call.function)));
}

bool LibraryCode::has(const Call &call) const {
    const auto [at, is_new] = known_.try_emplace(&call, false);
    if (is_new) at->second = finds(call);
    return at->second;
}

std::size_t LibraryCode::caller(const std::vector<const Call *> &calls) const {
    const auto innermost = [&](auto is_wanted) {
        const auto at = std::find_if(calls.rbegin(), calls.rend(), is_wanted);
        return static_cast<std::size_t>(calls.rend() - at);  // behind it; 0: none
    };
    std::size_t behind = innermost([&](const Call *call) { return !has(*call); });
    if (behind == 0) behind = innermost([](const Call *call) { return !is_allocation(*call); });
    return behind == 0 ? 0 : behind - 1;
}

bool LibraryCode::finds(const Call &call) const {
    if (matches_any(kFiles, call.module) || matches_any(more_, call.module)) return true;
    if (!call.is_known) return false;
    if (matches_any(kSources, call.file)) return true;
    const std::string name(qualified_name(call.function));
    return matches_any(kAllocations, name) || matches_any(kFunctions, name) || matches_any(more_, name);
}

}  // namespace gr::tool
