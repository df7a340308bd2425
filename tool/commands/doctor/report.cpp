// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/doctor/report.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

std::string_view verdict_word(Verdict verdict) {
    switch (verdict) {
        case Verdict::yes:
            return "yes";
        case Verdict::partly:
            return "partly";
        case Verdict::no:
            break;
    }
    return "no";
}

fmt::color verdict_colour(Verdict verdict) {
    switch (verdict) {
        case Verdict::yes:
            return fmt::color::green;
        case Verdict::partly:
            return fmt::color::orange;
        case Verdict::no:
            break;
    }
    return fmt::color::red;
}

std::string_view weight_word(Weight weight) {
    switch (weight) {
        case Weight::stops:
            return "stops";
        case Weight::limits:
            return "limits";
        case Weight::note:
            break;
    }
    return "note";
}

std::string subject_text(const Diagnosis &diagnosis) {
    if (diagnosis.process) return fmt::format("process {} ({})", *diagnosis.process, printable(diagnosis.path));
    if (diagnosis.subject == diagnosis.path) return printable(diagnosis.subject);
    return fmt::format("{} ({})", printable(diagnosis.subject), printable(diagnosis.path));
}

}  // namespace

std::string text_report(const Diagnosis &diagnosis, const std::vector<Fact> &facts, bool colour) {
    const std::string_view word = verdict_word(diagnosis.verdict());
    const auto style = fmt::emphasis::bold | fmt::fg(verdict_colour(diagnosis.verdict()));
    std::string result = fmt::format("{}: {}\n", colour ? fmt::format(style, "{}", word) : std::string(word),
                                     printable(diagnosis.summary()));
    auto out = std::back_inserter(result);
    fmt::format_to(out, "\n{}\n", subject_text(diagnosis));
    for (const Finding &finding : diagnosis.findings)
        fmt::format_to(out, "  {}: {}\n", weight_word(finding.weight), printable(finding.text));
    if (diagnosis.findings.empty()) fmt::format_to(out, "  no obstacle found\n");
    fmt::format_to(out, "\nthis system{}\n",
                   diagnosis.process ? " (for a program started now, not for this process)" : "");
    std::size_t name_width = 0;
    std::size_t value_width = 0;
    for (const Fact &fact : facts) {
        name_width = std::max(name_width, fact.name.size());
        if (!fact.meaning.empty()) value_width = std::max(value_width, std::min<std::size_t>(fact.value.size(), 12));
    }
    for (const Fact &fact : facts) {
        std::string line = fmt::format("  {:<{}}  {:<{}}  {}", fact.name, name_width, printable(fact.value),
                                       value_width, fact.meaning);
        line.resize(line.find_last_not_of(' ') + 1);
        result += line + "\n";
    }
    return result;
}

std::string json_report(const Diagnosis &diagnosis, const std::vector<Fact> &facts) {
    JsonWriter json;
    const auto field = [&json](std::string_view name, std::string_view value) {
        json.key(name);
        json.text(value);
    };
    json.begin_object();
    field("verdict", verdict_word(diagnosis.verdict()));
    field("summary", diagnosis.summary());
    field("subject", diagnosis.subject);
    field("path", diagnosis.path);
    if (diagnosis.process) {
        json.key("process");
        json.number(static_cast<std::uint64_t>(*diagnosis.process));
    }
    json.key("findings");
    json.begin_array();
    for (const Finding &finding : diagnosis.findings) {
        json.begin_object();
        field("weight", weight_word(finding.weight));
        field("kind", finding.kind);
        field("text", finding.text);
        json.end_object();
    }
    json.end_array();
    json.key("environment");
    json.begin_array();
    for (const Fact &fact : facts) {
        json.begin_object();
        field("name", fact.name);
        field("value", fact.value);
        field("meaning", fact.meaning);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.result() + "\n";
}

bool colour_wanted() {
    const bool refused = !variable("NO_COLOR").value_or("").empty();
    const bool dumb = variable("TERM").value_or("dumb") == "dumb";
    return !refused && !dumb && ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace gr::tool
