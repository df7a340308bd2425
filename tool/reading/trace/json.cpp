// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: json.hpp.
// Invariant: as there. Names and paths may be any bytes: what is no UTF-8 is replaced.
// Must not know: how chunks lie in a file.
#include "reading/trace/json.hpp"

#include <concepts>
#include <nlohmann/json.hpp>
#include <utility>

#include "reading/trace/columns.hpp"

namespace gr::trace {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json &json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class Use>
void use(std::string_view text, Use take) {
    try {
        take(Json::parse(text));
    } catch (const Json::exception &) {
        throw Damage("a piece of JSON has an unexpected form");
    }
}

template <class T>
void get(const Json &json, const char *name, T *value) {
    if (const auto at = json.find(name); at != json.end()) at->get_to(*value);
}
// Json::get_to converts a number as a cast does: 4e96 would be undefined behaviour, and 2^32 would become 0. get_ref refuses a
// fraction.
template <std::integral T>
requires(!std::same_as<T, bool>) void get(const Json &json, const char *name, T *value) {
    const auto at = json.find(name);
    if (at == json.end()) return;
    const auto store = [value](auto stored) {
        if (!std::in_range<T>(stored)) throw Damage("a number in a piece of JSON is out of range");
        *value = static_cast<T>(stored);
    };
    if (at->is_number_unsigned()) {
        store(at->get_ref<const Json::number_unsigned_t &>());
    } else {
        store(at->get_ref<const Json::number_integer_t &>());
    }
}
void get(const Json &json, const char *name, Time *value) { get(json, name, &value->units); }
void get(const Json &json, const char *name, ThreadNumber *value) {
    std::uint32_t number = number_of(*value);
    get(json, name, &number);
    *value = ThreadNumber{number};
}

constexpr std::array<const char *, 3> kStacks = {"none", "sampled", "all"};
constexpr std::array<const char *, 4> kReasons = {"exit", "signal", "exec", "unknown"};

template <class Enum, std::size_t kCount>
void get(const Json &json, const char *name, const std::array<const char *, kCount> &names, Enum *value) {
    std::string text;
    get(json, name, &text);
    for (std::size_t i = 0; i < kCount; ++i) {
        if (text == names[i]) *value = static_cast<Enum>(i);
    }
}

}  // namespace

std::string to_json(const Start &start) {
    return text_of({{"program", start.program},
                    {"arguments", start.arguments},
                    {"allocator", start.allocator},
                    {"process", start.process},
                    {"parent", start.parent},
                    {"began_nanoseconds", start.began_nanoseconds},
                    {"page_bytes", start.page_bytes},
                    {"physical_bytes", start.physical_bytes},
                    {"cpus", start.cpus},
                    {"machine", start.machine},
                    {"recorder", start.recorder},
                    {"stacks", kStacks[number_of(start.stacks)]},
                    {"stack_bytes", start.stack_bytes},
                    {"timed_calls", start.timed_calls},
                    {"clock_nanoseconds", start.clock_nanoseconds},
                    {"lossy", start.lossy},
                    {"ran_before", start.ran_before}});
}

void from_json(std::string_view text, Start *start) {
    use(text, [&](const Json &json) {
        get(json, "program", &start->program);
        get(json, "arguments", &start->arguments);
        get(json, "allocator", &start->allocator);
        get(json, "process", &start->process);
        get(json, "parent", &start->parent);
        get(json, "began_nanoseconds", &start->began_nanoseconds);
        get(json, "page_bytes", &start->page_bytes);
        get(json, "physical_bytes", &start->physical_bytes);
        get(json, "cpus", &start->cpus);
        get(json, "machine", &start->machine);
        get(json, "recorder", &start->recorder);
        get(json, "stacks", kStacks, &start->stacks);
        get(json, "stack_bytes", &start->stack_bytes);
        get(json, "timed_calls", &start->timed_calls);
        get(json, "clock_nanoseconds", &start->clock_nanoseconds);
        get(json, "lossy", &start->lossy);
        get(json, "ran_before", &start->ran_before);
    });
}

std::string to_json(std::span<const Thread> threads) {
    Json json = Json::array();
    for (const Thread &thread : threads) {
        json.push_back({{"number", number_of(thread.number)},
                        {"id", thread.id},
                        {"name", thread.name},
                        {"first", thread.first.units}});
    }
    return text_of(json);
}

void from_json(std::string_view text, std::vector<Thread> *threads) {
    use(text, [&](const Json &json) {
        for (const Json &one : json) {
            Thread thread;
            get(one, "number", &thread.number);
            get(one, "id", &thread.id);
            get(one, "name", &thread.name);
            get(one, "first", &thread.first);
            threads->push_back(std::move(thread));
        }
    });
}

std::string to_json(const ModuleList &list) {
    Json modules = Json::array();
    for (const Module &module : list.modules) {
        modules.push_back({{"begin", module.begin},
                           {"end", module.end},
                           {"offset", module.offset},
                           {"path", module.path},
                           {"build_id", module.build_id}});
    }
    return text_of({{"time", list.time.units}, {"modules", std::move(modules)}});
}

void from_json(std::string_view text, std::vector<ModuleList> *lists) {
    use(text, [&](const Json &json) {
        ModuleList list;
        get(json, "time", &list.time);
        for (const Json &one : json.at("modules")) {
            Module module;
            get(one, "begin", &module.begin);
            get(one, "end", &module.end);
            get(one, "offset", &module.offset);
            get(one, "path", &module.path);
            get(one, "build_id", &module.build_id);
            list.modules.push_back(std::move(module));
        }
        lists->push_back(std::move(list));
    });
}

std::string to_json(std::span<const Place> places) {
    Json json = Json::array();
    for (const Place &place : places) {
        Json one = {{"number", place.number}};
        if (place.most_calls != 0) {
            one["least_calls"] = place.least_calls;
            one["most_calls"] = place.most_calls;
        } else {
            one["function"] = place.function;
            one["file"] = place.file;
            one["line"] = place.line;
        }
        json.push_back(std::move(one));
    }
    return text_of(json);
}

void from_json(std::string_view text, std::vector<Place> *places) {
    use(text, [&](const Json &json) {
        for (const Json &one : json) {
            Place place;
            get(one, "number", &place.number);
            get(one, "least_calls", &place.least_calls);
            get(one, "most_calls", &place.most_calls);
            get(one, "function", &place.function);
            get(one, "file", &place.file);
            get(one, "line", &place.line);
            places->push_back(std::move(place));
        }
    });
}

std::string to_json(std::span<const MadeFunction> functions) {
    Json json = Json::array();
    for (const MadeFunction &function : functions)
        json.push_back({{"address", function.address}, {"name", function.name}});
    return text_of(json);
}

void from_json(std::string_view text, std::vector<MadeFunction> *functions) {
    use(text, [&](const Json &json) {
        for (const Json &one : json) {
            MadeFunction function;
            get(one, "address", &function.address);
            get(one, "name", &function.name);
            functions->push_back(std::move(function));
        }
    });
}

std::string to_json(std::span<const Mark> marks) {
    Json json = Json::array();
    for (const Mark &mark : marks) {
        json.push_back({{"time", mark.time.units}, {"thread", number_of(mark.thread)}, {"text", mark.text}});
    }
    return text_of(json);
}

void from_json(std::string_view text, std::vector<Mark> *marks) {
    use(text, [&](const Json &json) {
        for (const Json &one : json) {
            Mark mark;
            get(one, "time", &mark.time);
            get(one, "thread", &mark.thread);
            get(one, "text", &mark.text);
            marks->push_back(std::move(mark));
        }
    });
}

std::string names_to_json(std::span<const std::string> names) { return text_of(Json(names)); }

void from_json(std::string_view text, std::vector<std::string> *names) {
    use(text, [&](const Json &json) {
        for (const Json &one : json) names->push_back(one.get<std::string>());
    });
}

std::string to_json(const Relative &relative) {
    return text_of({{"time", relative.time.units},
                    {"process", relative.process},
                    {"is_same_process", relative.is_same_process},
                    {"file", relative.file}});
}

void from_json(std::string_view text, std::vector<Relative> *relatives) {
    use(text, [&](const Json &json) {
        Relative relative;
        get(json, "time", &relative.time);
        get(json, "process", &relative.process);
        get(json, "is_same_process", &relative.is_same_process);
        get(json, "file", &relative.file);
        relatives->push_back(std::move(relative));
    });
}

std::string to_json(const End &end) {
    return text_of({{"time", end.time.units},
                    {"reason", kReasons[number_of(end.reason)]},
                    {"status", end.status},
                    {"events", end.events},
                    {"lost", end.lost},
                    {"stack_nanoseconds", end.stack_nanoseconds}});
}

void from_json(std::string_view text, End *end) {
    use(text, [&](const Json &json) {
        get(json, "time", &end->time);
        get(json, "reason", kReasons, &end->reason);
        get(json, "status", &end->status);
        get(json, "events", &end->events);
        get(json, "lost", &end->lost);
        get(json, "stack_nanoseconds", &end->stack_nanoseconds);
    });
}

std::array<std::uint64_t, kSampleColumns> row_of(const Sample &sample) {
    return {sample.time.units,          sample.resident_bytes, sample.anonymous_bytes,
            sample.lazy_free_bytes,     sample.huge_bytes,     sample.user_microseconds,
            sample.system_microseconds, sample.faults,         sample.threads};
}

Sample sample_of(const std::array<std::uint64_t, kSampleColumns> &row) {
    return {.time = Time{row[0]},
            .resident_bytes = row[1],
            .anonymous_bytes = row[2],
            .lazy_free_bytes = row[3],
            .huge_bytes = row[4],
            .user_microseconds = row[5],
            .system_microseconds = row[6],
            .faults = row[7],
            .threads = row[8]};
}

}  // namespace gr::trace
