// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reading, printing and looking up options; the exact words of the warnings.
// Invariant: a value that is not understood changes nothing and warns once, in one line.
// Must not know: what an option changes.
#include "malloc/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "platform/cgroup.hpp"
#include "region/huge_pages.hpp"

namespace gr {
namespace {

struct Read {
    Options options;
    std::string warnings;
};

constexpr std::size_t kGroup = 512 * kMiB;

Read read(
    std::vector<const char *> environment, FindLimit find = [] { return kGroup; }) {
    environment.push_back(nullptr);
    Read result{Options::defaults(), {}};
    testing::internal::CaptureStderr();
    read_options(environment.data(), &result.options, find);
    result.warnings = testing::internal::GetCapturedStderr();
    return result;
}

TEST(Options, DefaultsAreThoseOfTheConfiguration) {
    const Options o = Options::defaults();
    EXPECT_EQ(o.stats, static_cast<std::size_t>(StatisticsMode::off));
    EXPECT_EQ(o.verbose, 0U);
    EXPECT_EQ(o.rseq, 1U);
    EXPECT_EQ(o.region, 0U);
    EXPECT_EQ(o.retain, kRetainBytes);
    EXPECT_EQ(o.reuse, kReuseBytes);
    EXPECT_EQ(o.direct, kDirectThreshold);
    EXPECT_EQ(o.magazine, kMagazineBudget);
}

TEST(Options, ReadsBytesWithSuffixes) {
    const std::pair<const char *, std::size_t> values[] = {
        {"GRANARY_RETAIN=0", 0},
        {"GRANARY_RETAIN=1", 1},
        {"GRANARY_RETAIN=8K", 8 * kKiB},
        {"GRANARY_RETAIN=8m", 8 * kMiB},
        {"GRANARY_RETAIN=007G", 7 * kGiB},
        {"GRANARY_RETAIN=3T", 3 * kTiB},
        {"GRANARY_RETAIN=18446744073709551615", SIZE_MAX},
    };
    for (const auto &[text, bytes] : values) {
        const Read result = read({text});
        EXPECT_EQ(result.options.retain, bytes) << text;
        EXPECT_EQ(result.warnings, "") << text;
    }
}

TEST(Options, ReadsWordsAndFlagsInAnyCase) {
    const Read result =
        read({"GRANARY_STATS=Json", "GRANARY_VERBOSE=1", "granary_rseq=OFF", "PATH=/bin", "GRANARY_REGION=1g"});
    EXPECT_EQ(result.warnings, "");
    EXPECT_EQ(result.options.stats, static_cast<std::size_t>(StatisticsMode::json));
    EXPECT_EQ(result.options.verbose, 1U);
    EXPECT_EQ(result.options.rseq, 0U);
    EXPECT_EQ(result.options.region, kGiB);
    EXPECT_EQ(result.options.retain, kRetainBytes) << "an option that nobody named";
}

TEST(Options, BytesThatAreNoneAreIgnoredWithOneWarning) {
    for (const std::string value : {"", "abc", "-1", "1.5M", "8MB", "8 M", " 8", "18446744073709551616", "16777216T",
                                    "99999999999999999999999G", "0x10", "M"}) {
        const std::string variable = "GRANARY_RETAIN=" + value;
        const Read result = read({variable.c_str()});
        EXPECT_EQ(result.options.retain, kRetainBytes) << variable;
        EXPECT_EQ(result.warnings, "granary: ignoring " + variable + ": expected bytes, as in 8M\n");
    }
}

TEST(Options, OtherValuesThatAreNoneNameWhatIsExpected) {
    EXPECT_EQ(read({"GRANARY_STATS=xml"}).warnings, "granary: ignoring GRANARY_STATS=xml: expected off|text|json\n");
    EXPECT_EQ(read({"GRANARY_RETAIN=1M\n2M"}).warnings,
              "granary: ignoring GRANARY_RETAIN=1M?2M: expected bytes, as in 8M\n");
    EXPECT_EQ(read({"GRANARY_VERBOSE=2"}).warnings, "granary: ignoring GRANARY_VERBOSE=2: expected 0|1\n");
    EXPECT_EQ(read({"GRANARY_RSEQ=yes"}).warnings, "granary: ignoring GRANARY_RSEQ=yes: expected on|off\n");
    EXPECT_EQ(read({"GRANARY_RSEQ=yes"}).options.rseq, 1U);
}

TEST(Options, HugePagesAreAPolicy) {
    const auto policy = [](const char *variable) {
        return static_cast<HugePolicy>(read({variable}).options.huge_pages);
    };
    EXPECT_EQ(policy("UNSET="), HugePolicy::automatic);
    EXPECT_EQ(policy("GRANARY_HUGE_PAGES=never"), HugePolicy::never);
    EXPECT_EQ(policy("GRANARY_HUGE_PAGES=AUTO"), HugePolicy::automatic);
    EXPECT_EQ(policy("GRANARY_HUGE_PAGES=always"), HugePolicy::always);
    const Read wrong = read({"GRANARY_HUGE_PAGES=alway"});
    EXPECT_EQ(wrong.warnings, "granary: ignoring GRANARY_HUGE_PAGES=alway: expected never|auto|always\n");
    EXPECT_EQ(static_cast<HugePolicy>(wrong.options.huge_pages), HugePolicy::automatic);
}

TEST(Options, ProfileIsBytesAndASignal) {
    const auto profile = [](const char *variable) {
        const Read result = read({variable});
        EXPECT_EQ(result.warnings, "") << variable;
        return std::pair(result.options.profile, result.options.profile_signal);
    };
    constexpr std::size_t kNone = 0;
    EXPECT_EQ(profile("UNSET="), std::pair(kNone, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=off"), std::pair(kNone, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=0"), std::pair(kNone, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=on"), std::pair(kProfileMean, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=ON,usr1"), std::pair(kProfileMean, std::size_t{10}));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,USR2"), std::pair(4 * kKiB, std::size_t{12}));
    EXPECT_EQ(profile("GRANARY_PROFILE=1,PROF"), std::pair(std::size_t{1}, std::size_t{27}));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,0"), std::pair(4 * kKiB, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=1T,64"), std::pair(kTiB, std::size_t{64}));
    for (const std::string value : {"", ",", "on,", "4K,", ",USR1", "4K,KILL", "4K,9", "4K,19", "4K,65", "2T", "onn",
                                    "4K USR1", "4K,USR1,", "yes"}) {
        const std::string variable = "GRANARY_PROFILE=" + value;
        const Read result = read({variable.c_str()});
        EXPECT_EQ(result.warnings, "granary: ignoring " + variable +
                                       ": expected on, off or bytes up to 1T, optionally followed by a signal, as in "
                                       "512K,USR2\n");
        EXPECT_EQ(result.options.profile, 0U) << variable;
        EXPECT_EQ(result.options.profile_signal, 0U) << variable;
    }
}

TEST(Options, LimitsAreOneOrTwo) {
    const auto limits = [](const char *variable) {
        const Read result = read({variable});
        EXPECT_EQ(result.warnings, "") << variable;
        return std::pair(result.options.soft_limit, result.options.hard_limit);
    };
    EXPECT_EQ(limits("GRANARY_LIMIT=1G"), std::pair(kGiB, std::size_t{0}));
    EXPECT_EQ(limits("GRANARY_LIMIT=1g,2G"), std::pair(kGiB, 2 * kGiB));
    EXPECT_EQ(limits("GRANARY_LIMIT=0,8M"), std::pair(std::size_t{0}, 8 * kMiB));
    EXPECT_EQ(limits("GRANARY_LIMIT=8M,0"), std::pair(8 * kMiB, std::size_t{0}));
    EXPECT_EQ(limits("GRANARY_LIMIT=auto"), std::pair(kGroup, std::size_t{0}));
    EXPECT_EQ(limits("GRANARY_LIMIT=64K,AUTO"), std::pair(64 * kKiB, kGroup));
    // What the group allows lowers the first limit, or is lowered.
    EXPECT_EQ(limits("GRANARY_LIMIT=900M,auto"), std::pair(kGroup, kGroup));
    EXPECT_EQ(limits("GRANARY_LIMIT=auto,64K"), std::pair(64 * kKiB, 64 * kKiB));
    const Read none = read({"GRANARY_LIMIT=1G,auto"}, [] { return platform::kNoMemoryLimit; });
    EXPECT_EQ(none.options.soft_limit, kGiB);
    EXPECT_EQ(none.options.hard_limit, 0U);
    for (const std::string value : {"", ",", "1G,", ",1G", "1G,2G,3G", "auto1", "1G;2G", "2G,1G", "much"}) {
        const std::string variable = "GRANARY_LIMIT=" + value;
        const Read result = read({variable.c_str()});
        EXPECT_EQ(result.warnings, "granary: ignoring " + variable +
                                       ": expected bytes or auto, optionally followed by a hard limit that is not "
                                       "lower, as in 1G,auto\n");
        EXPECT_EQ(result.options.soft_limit + result.options.hard_limit, 0U) << value;
    }
}

TEST(Options, UnknownOnesAreNamed) {
    for (const std::string variable :
         {"GRANARY_FOO=bar", "GRANARY_RETAINS=1", "GRANARY_RETAI=1", "GRANARY_=", "GRANARY_RETAIN"}) {
        EXPECT_EQ(read({variable.c_str()}).warnings,
                  "granary: ignoring " + variable + ": unknown option; see 'granary options'\n");
    }
    EXPECT_EQ(read({"GRANARY", "NOT_GRANARY_FOO=1"}).warnings, "");
}

TEST(Options, AFormerNameIsReadAndTellsTheNewOne) {
    const Read former = read({"GRANARY_BREATH=8M"});
    EXPECT_EQ(former.warnings, "granary: GRANARY_BREATH is now called GRANARY_REUSE; the value is used\n");
    EXPECT_EQ(former.options.reuse, 8 * kMiB);
    const Read today = read({"GRANARY_REUSE=8M"});
    EXPECT_EQ(today.warnings, "");
    EXPECT_EQ(today.options.reuse, 8 * kMiB);
    const Read wrong = read({"GRANARY_BREATH=deep"});
    EXPECT_EQ(wrong.warnings, "granary: ignoring GRANARY_BREATH=deep: expected bytes, as in 8M\n");
    EXPECT_EQ(wrong.options.reuse, kReuseBytes);
    EXPECT_EQ(read({"GRANARY_BREATHS=1"}).warnings,
              "granary: ignoring GRANARY_BREATHS=1: unknown option; see 'granary options'\n");
}

TEST(Options, OfAFormerNameAndTheNewOneTheNewOneHolds) {
    constexpr const char *kFormer = "GRANARY_BREATH=8M";
    constexpr const char *kNew = "granary_reuse=16M";
    for (const auto &environment : {std::vector{kFormer, kNew}, std::vector{kNew, kFormer}}) {
        const Read both = read(environment);
        EXPECT_EQ(both.warnings,
                  "granary: ignoring GRANARY_BREATH=8M: the option is now called GRANARY_REUSE, which is set too\n");
        EXPECT_EQ(both.options.reuse, 16 * kMiB);
    }
}

TEST(Options, AWarningIsOneWholeLineHoweverLongTheValue) {
    const std::string variable = "GRANARY_RETAIN=" + std::string(2000, '9');
    const std::string warnings = read({variable.c_str()}).warnings;
    ASSERT_FALSE(warnings.empty());
    EXPECT_EQ(warnings.find('\n'), warnings.size() - 1);
}

TEST(Options, NoEnvironmentIsNone) {
    Options options = Options::defaults();
    read_options(nullptr, &options, nullptr);
    EXPECT_EQ(options.retain, kRetainBytes);
}

void append(void *sink, const Text &line) { static_cast<std::string *>(sink)->append(line.data(), line.size()); }

TEST(Options, PrintedTextCanBeReadBack) {
    const Read set = read({"GRANARY_STATS=text", "GRANARY_DIRECT=123456789", "GRANARY_RSEQ=off", "GRANARY_MAGAZINE=1M",
                           "GRANARY_LIMIT=1M,2M", "GRANARY_HUGE_PAGES=never", "GRANARY_PROFILE=on,USR2"});
    std::string text;
    print_options(set.options, false, append, &text);
    std::vector<std::string> variables;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        variables.push_back(text.substr(at, text.find(' ', at) - at));
    }
    ASSERT_EQ(variables.size(), sizeof(Options) / sizeof(std::size_t) - 2)
        << "one for each, but two limits, and a profile with its signal: " << text;
    std::vector<const char *> environment;
    for (const std::string &variable : variables) environment.push_back(variable.c_str());
    const Read again = read(environment);
    EXPECT_EQ(again.warnings, "");
    EXPECT_EQ(again.options.stats, 1U);
    EXPECT_EQ(again.options.direct, 123456789U);
    EXPECT_EQ(again.options.rseq, 0U);
    EXPECT_EQ(again.options.magazine, kMiB);
    EXPECT_EQ(again.options.soft_limit, kMiB);
    EXPECT_EQ(again.options.hard_limit, 2 * kMiB);
    EXPECT_EQ(again.options.retain, set.options.retain);
    EXPECT_EQ(again.options.profile, kProfileMean);
    EXPECT_EQ(again.options.profile_signal, set.options.profile_signal);
}

TEST(Options, PrintsJsonAndTellsTheOrigin) {
    const Read set = read({"GRANARY_RETAIN=5"});
    std::string json;
    print_options(set.options, true, append, &json);
    EXPECT_EQ(json.substr(0, 2), "[\n");
    EXPECT_EQ(json.substr(json.size() - 3), "\n]\n");
    EXPECT_NE(json.find(R"({"name": "GRANARY_RETAIN", "value": "5", "origin": "environment", "unit": "bytes")"),
              std::string::npos)
        << json;
}

TEST(Options, ValuesAreFoundByNameInAnyCase) {
    const Options options = Options::defaults();
    const auto value = [&](const char *name) {
        TextBuffer<64> text;
        return option_value(options, name, &text) ? std::string(text.data(), text.size()) : "none";
    };
    EXPECT_EQ(value("RETAIN"), std::to_string(kRetainBytes));
    EXPECT_EQ(value("retain"), std::to_string(kRetainBytes));
    EXPECT_EQ(value("rseq"), "on");
    EXPECT_EQ(value("Stats"), "off");
    EXPECT_EQ(value("reuse"), std::to_string(kReuseBytes));
    EXPECT_EQ(value("breath"), std::to_string(kReuseBytes)) << "a former name";
    EXPECT_EQ(value("GRANARY_RETAIN"), "none");
    EXPECT_EQ(value("RETAI"), "none");
    EXPECT_EQ(value(""), "none");
}

}  // namespace
}  // namespace gr
