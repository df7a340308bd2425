// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: function_name.hpp; linkers' names are read by libiberty.
// Invariant: as there. A text whose brackets do not match stays whole.
// Must not know: where the function was found.
#include "reading/symbols/function_name.hpp"

#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace gr::tool {

namespace {

using Text = std::unique_ptr<char, decltype(&std::free)>;

// Of Rust's older names, which look like C++'s, only those with Rust's hash are Rust's.
char *allocate_demangled(const char *name) {
    const std::string_view start(name);
    if (start.starts_with("_R") || start.starts_with("_ZN")) {
        char *const text = rust_demangle(name, DMGL_NO_OPTS);
        if (text != nullptr) return text;
    }
    if (start.starts_with("_Z")) return cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
    if (start.starts_with("_D")) return dlang_demangle(name, DMGL_NO_OPTS);
    return nullptr;
}

constexpr std::array<std::string_view, 6> kCloneKinds{"cold", "constprop", "isra", "llvm", "lto_priv", "part"};

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

// Behind a sign of an expression that looks like brackets: "->", "(1)<<(2)", and "(4)>(3)" inside of parentheses; without
// such a sign the same place.
std::size_t end_of_sign(std::string_view name, std::size_t at, bool is_in_parentheses) {
    if (at == 0) return at;
    const bool is_behind_operand = name[at - 1] == ')';
    if (name[at] == '<' && is_behind_operand) return std::min(name.find_first_not_of("<=", at), name.size());
    if (name[at] != '>') return at;
    if (name[at - 1] == '-') return at + 1;
    const std::size_t end = std::min(name.find_first_not_of(">=", at), name.size());
    return is_behind_operand && is_in_parentheses && name.substr(end).starts_with('(') ? end : at;
}

// Behind the bracket that closes the one there; npos: none does. Texts in quotes are D's arguments.
std::size_t end_of_brackets(std::string_view name, std::size_t at, char open, char close) {
    std::size_t depth = 0;
    std::size_t parentheses = 0;
    bool is_quoted = false;
    while (at < name.size()) {
        const char letter = name[at];
        if (letter == '"') is_quoted = !is_quoted;
        if (is_quoted) {
            at += letter == '\\' ? 2 : 1;
            continue;
        }
        std::size_t end = at;
        if (begins_operator(name, at)) end = end_of_operator(name, at + kOperator.size());
        if (open == '<' && end == at) end = end_of_sign(name, at, parentheses != 0);
        if (end != at) {
            at = end;
            continue;
        }
        ++at;
        if (letter == '(') ++parentheses;
        if (letter == ')' && parentheses != 0) --parentheses;
        if (letter == open) ++depth;
        if (letter == close && --depth == 0) return at;
    }
    return std::string_view::npos;
}

// Templates' arguments begin behind a name, and behind "::" in Rust; a bracket elsewhere belongs to a name, as in
// "<T as Trait>::f" and "<module>".
bool begins_arguments(std::string_view name, std::size_t at) {
    if (at == 0) return false;
    if (name[at] == '<') return is_part_of_a_word(name[at - 1]) || name.substr(0, at).ends_with("::");
    return name[at] == '(' && at > 1 && name[at - 1] == '!' && is_part_of_a_word(name[at - 2]);
}

void replace_all(std::string *text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text->find(what, at)) != std::string::npos; at += by.size())
        text->replace(at, what.size(), by);
}

// Compilers split and copy functions: "f() [clone .isra.0]" in C++, "f.isra.0" in C. No language has a name that ends so.
// C's "f.cold" stays: it is also a name of Go.
std::string_view without_clone(std::string_view name) {
    constexpr std::string_view kClone = " [clone ";
    while (name.ends_with(']')) {
        const std::size_t at = name.rfind(kClone);
        if (at == std::string_view::npos) break;
        name = name.substr(0, at);
    }
    while (true) {
        const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
        if (letters.size() == name.size() || !letters.ends_with('.')) return name;
        const std::string_view word = letters.substr(0, letters.size() - 1);
        const std::size_t at = word.rfind('.');
        if (at == std::string_view::npos || at == 0) return name;
        const std::string_view kind = word.substr(at + 1);
        if (std::ranges::find(kCloneKinds, kind) == kCloneKinds.end()) return name;
        name = word.substr(0, at);
    }
}

constexpr std::string_view kString = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

}  // namespace

std::string demangled(const std::string &linker_name) {
    const std::string name = linker_name.substr(0, linker_name.find('@'));
    const Text text(allocate_demangled(name.c_str()), &std::free);
    return std::string(without_clone(text ? text.get() : name));
}

std::string brief(std::string_view function) {
    std::string whole(function);
    replace_all(&whole, kString, "std::string");
    const std::string_view name = whole;
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t begin = at;
        if (begins_operator(name, at)) {
            at = end_of_operator(name, at + kOperator.size());
            text += name.substr(begin, at - begin);
            const bool has_arguments = name.substr(at).starts_with('<') || name.substr(at).starts_with(" <");
            if (!has_arguments) continue;
            at = name.find('<', at);
        } else if (!begins_arguments(name, at)) {
            text += name[at++];
            continue;
        }
        const char open = name[at];
        const char close = open == '<' ? '>' : ')';
        at = end_of_brackets(name, at, open, close);
        if (at == std::string_view::npos) return std::string(function);
        text += open;
        text += "…";
        text += close;
    }
    return text;
}

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

}  // namespace gr::tool
