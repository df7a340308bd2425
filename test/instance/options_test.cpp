// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reading options from the program, a file and the environment, printing and looking up; the exact words of the
//    warnings.
// Invariant: a value that is not understood changes nothing and warns once, in one line.
// Must not know: what an option changes.
#include "instance/options.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "instance/option_rows.hpp"
#include "platform/cgroup.hpp"
#include "region/huge_pages.hpp"

namespace gr::options_test {

struct Read {
    Options options;
    std::string warnings;
};

constexpr std::size_t kGroup = 512 * kMiB;

Read read_all(OptionSources sources) {
    if (sources.find == nullptr) sources.find = [] { return kGroup; };
    Read result{Options::defaults(), {}};
    testing::internal::CaptureStderr();
    read_options(sources, &result.options);
    result.warnings = testing::internal::GetCapturedStderr();
    return result;
}

Read read(std::vector<const char *> environment, FindLimit find = nullptr) {
    environment.push_back(nullptr);
    return read_all({.environment = environment.data(), .find = find});
}

// A file of that text, which goes with this.
class File {
  public:
    explicit File(const std::string &text) {
        const int file = mkstemp(path_.data());
        EXPECT_GE(file, 0);
        EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(file);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() { unlink(path_.c_str()); }
    const char *path() const { return path_.c_str(); }

  private:
    std::string path_ = testing::TempDir() + "granary-options-XXXXXX";
};

Read read_file(const std::string &text) {
    const File file(text);
    return read_all({.file = file.path()});
}

// Of a text that gives one warning: without the place of the text.
std::string complaint(const std::string &text) {
    const File file(text);
    const std::string before = "granary: ignoring " + std::string(file.path());
    const std::string warnings = read_all({.file = file.path()}).warnings;
    EXPECT_EQ(warnings.substr(0, before.size()), before);
    return warnings.size() < before.size() ? warnings : warnings.substr(before.size());
}

TEST(Options, DefaultsAreThoseOfTheConfiguration) {
    const Options o = Options::defaults();
    EXPECT_EQ(o.stats, static_cast<std::size_t>(StatisticsMode::off));
    EXPECT_EQ(o.stats_file, 0U);
    EXPECT_EQ(o.stats_interval, kStatisticsSeconds);
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
    EXPECT_EQ(read({"GRANARY_STATS=xml"}).warnings,
              "granary: ignoring GRANARY_STATS=xml: expected off|text|json|prometheus\n");
    EXPECT_EQ(read({"GRANARY_RETAIN=1M\n2M"}).warnings,
              "granary: ignoring GRANARY_RETAIN=1M?2M: expected bytes, as in 8M\n");
    EXPECT_EQ(read({"GRANARY_VERBOSE=2"}).warnings, "granary: ignoring GRANARY_VERBOSE=2: expected 0|1\n");
    EXPECT_EQ(read({"GRANARY_RSEQ=yes"}).warnings, "granary: ignoring GRANARY_RSEQ=yes: expected on|off\n");
    EXPECT_EQ(read({"GRANARY_RSEQ=yes"}).options.rseq, 1U);
}

TEST(Options, TheIntervalOfStatisticsIsSeconds) {
    for (const auto &[variable, seconds] :
         {std::pair("GRANARY_STATS_INTERVAL=1", 1U), std::pair("GRANARY_STATS_INTERVAL=86400", 86400U)}) {
        const Read result = read({variable});
        EXPECT_EQ(result.options.stats_interval, seconds);
        EXPECT_EQ(result.warnings, "");
    }
    for (const std::string value : {"", "0", "86401", "1s", "1K", "-1", "1.5", "99999999999999999999"}) {
        const std::string variable = "GRANARY_STATS_INTERVAL=" + value;
        const Read result = read({variable.c_str()});
        EXPECT_EQ(result.options.stats_interval, kStatisticsSeconds);
        EXPECT_EQ(result.warnings, "granary: ignoring " + variable + ": expected seconds, from 1 to 86400\n");
    }
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

TEST(Options, JunkIsAWordAndZeroASwitch) {
    const auto junk = [](const char *variable) { return static_cast<JunkMode>(read({variable}).options.junk); };
    EXPECT_EQ(junk("UNSET="), JunkMode::off);
    EXPECT_EQ(junk("GRANARY_JUNK=allocate"), JunkMode::allocate);
    EXPECT_EQ(junk("GRANARY_JUNK=FREE"), JunkMode::free);
    EXPECT_EQ(junk("GRANARY_JUNK=all"), JunkMode::all);
    EXPECT_EQ(read({"GRANARY_JUNK=on"}).warnings,
              "granary: ignoring GRANARY_JUNK=on: expected off|allocate|free|all\n");
    EXPECT_EQ(Options::defaults().zero, 0U);
    EXPECT_EQ(read({"GRANARY_ZERO=on"}).options.zero, 1U);
    EXPECT_EQ(read({"GRANARY_ZERO=1"}).warnings, "granary: ignoring GRANARY_ZERO=1: expected on|off\n");
}

TEST(Options, PolicyOfTheCollectorIsAWord) {
    const auto policy = [](const char *variable) { return static_cast<GcPolicy>(read({variable}).options.gc_policy); };
    EXPECT_EQ(policy("UNSET="), GcPolicy::proportional);
    EXPECT_EQ(policy("GRANARY_GC_POLICY=growable"), GcPolicy::growable);
    EXPECT_EQ(policy("GRANARY_GC_POLICY=Fixed"), GcPolicy::fixed);
    EXPECT_EQ(policy("GRANARY_GC_POLICY=square-root"), GcPolicy::square_root);
    EXPECT_EQ(read({"GRANARY_GC_POLICY=linear"}).warnings,
              "granary: ignoring GRANARY_GC_POLICY=linear: expected proportional|growable|fixed|square-root\n");
}

TEST(Options, TheCollectorsTracerIsOnOrOff) {
    EXPECT_EQ(read({}).options.gc_tracer, 1U);
    EXPECT_EQ(read({"GRANARY_GC_TRACER=off"}).options.gc_tracer, 0U);
    EXPECT_EQ(read({"GRANARY_GC_TRACER=no"}).warnings, "granary: ignoring GRANARY_GC_TRACER=no: expected on|off\n");
}

TEST(Options, ProfileIsBytesAndASignal) {
    const auto profile = [](const char *variable) {
        const Read result = read({variable});
        EXPECT_EQ(result.warnings, "") << variable;
        return std::pair(result.options.profile, result.options.profile_moments);
    };
    constexpr std::size_t kNone = 0;
    EXPECT_EQ(profile("UNSET="), std::pair(kNone, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=off"), std::pair(kNone, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=0"), std::pair(kNone, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=on"), std::pair(kProfileMean, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=ON,usr1"), std::pair(kProfileMean, std::size_t{10}));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,USR2"), std::pair(4 * kKiB, std::size_t{12}));
    EXPECT_EQ(profile("GRANARY_PROFILE=1,PROF"), std::pair(std::size_t{1}, std::size_t{27}));
    EXPECT_EQ(profile("GRANARY_PROFILE=on,exit"), std::pair(kProfileMean, kProfileAtExit));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,usr2,EXIT"), std::pair(4 * kKiB, kProfileAtExit + 12));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,0"), std::pair(4 * kKiB, kNone));
    EXPECT_EQ(profile("GRANARY_PROFILE=1T,64"), std::pair(kTiB, std::size_t{64}));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,exit,USR1"), std::pair(4 * kKiB, kProfileAtExit + 10));
    EXPECT_EQ(profile("GRANARY_PROFILE=4K,every=1G,USR1"), std::pair(4 * kKiB, std::size_t{10}));
    EXPECT_EQ(read({"GRANARY_PROFILE=on,USR2,exit,every=3M"}).options.profile_every, 3 * kMiB);
    EXPECT_EQ(read({"GRANARY_PROFILE=on,EVERY=3,exit"}).options.profile_every, 3U);
    EXPECT_EQ(read({"GRANARY_PROFILE=on"}).options.profile_every, 0U);
    const auto expect_refused = [](const std::string &value) {
        const std::string variable = "GRANARY_PROFILE=" + value;
        const Read result = read({variable.c_str()});
        EXPECT_EQ(result.warnings, "granary: ignoring " + variable +
                                       ": expected on, off or bytes up to 1T, optionally followed by a signal, by exit "
                                       "and by every=bytes, as in 512K,USR2,exit\n");
        EXPECT_EQ(result.options.profile, 0U) << variable;
        EXPECT_EQ(result.options.profile_moments, 0U) << variable;
        EXPECT_EQ(result.options.profile_every, 0U) << variable;
    };
    for (const char *const value : {"", ",", "on,", "4K,", ",USR1", "4K,KILL", "4K,9", "4K,19", "4K,65", "2T", "onn",
                                    "4K USR1", "4K,USR1,", "yes", "exit", "4K,USR1,USR2", "4K,USR1,exit,", "4K,USR10"})
        expect_refused(value);
    for (const char *const value : {"4K,exit,exit", "4K,exitUSR1", "4K,every", "4K,every=", "4K,every=0", "4K,every=x",
                                    "4K,every=1G,every=2G", "4K,every=1Gexit"})
        expect_refused(value);
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
    const Read result = read_all(OptionSources{});
    EXPECT_EQ(result.options.retain, kRetainBytes);
    EXPECT_EQ(result.warnings, "");
}

TEST(Options, AFileHasOneSettingInALine) {
    const Read result = read_file(
        "# how this machine is set up\n"
        "\n"
        "RETAIN=3M\n"
        "  granary_direct\t= 8M \t # two blanks\r\n"
        "GRANARY_LIMIT =1G,2G#3\n"
        "\t#STATS=json\n"
        "Limit=1G,2G\n"
        "Stats=TEXT");
    EXPECT_EQ(result.options.retain, 3 * kMiB);
    EXPECT_EQ(result.options.direct, 8 * kMiB);
    EXPECT_EQ(result.options.hard_limit, 2 * kGiB);
    EXPECT_EQ(result.options.stats, static_cast<std::size_t>(StatisticsMode::text));
    EXPECT_NE(result.warnings.find(":5: GRANARY_LIMIT =1G,2G#3: expected bytes"), std::string::npos)
        << "a number sign inside a value begins no comment: " << result.warnings;
    EXPECT_EQ(result.warnings.find('\n'), result.warnings.size() - 1);
}

TEST(Options, TheLastLineOfAnOptionHolds) {
    EXPECT_EQ(read_file("REUSE=1M\nBREATH=2M\nREUSE=3M\n").options.reuse, 3 * kMiB);
}

TEST(Options, FaultsInAFileAreToldWithTheirLine) {
    EXPECT_EQ(complaint("\n\nRETAIN=abc\n"), ":3: RETAIN=abc: expected bytes, as in 8M\n");
    EXPECT_EQ(complaint("retain\n"), ":1: retain: expected NAME=VALUE, as in RETAIN=8M\n");
    EXPECT_EQ(complaint("RETAIN 8M\n"), ":1: RETAIN 8M: expected NAME=VALUE, as in RETAIN=8M\n");
    EXPECT_EQ(complaint("FOO = 1"), ":1: FOO = 1: unknown option; see 'granary options'\n");
    EXPECT_EQ(complaint("=8M\n"), ":1: =8M: unknown option; see 'granary options'\n");
    EXPECT_EQ(complaint("STATS=json extra\n"), ":1: STATS=json extra: expected off|text|json|prometheus\n");
    EXPECT_EQ(complaint("OPTIONS_FILE=/etc/other\n"), ":1: OPTIONS_FILE=/etc/other: a file cannot name another file\n");
    EXPECT_EQ(complaint("X=a\x1b[31m\x7f\n"), ":1: X=a?[31m?: unknown option; see 'granary options'\n");
    EXPECT_EQ(complaint(std::string("RETAIN=8M\0 8\n", 13)), ":1: RETAIN=8M? 8: expected bytes, as in 8M\n")
        << "a zero ends nothing";
    const std::string former = read_file("BREATH=8M\n").warnings;
    EXPECT_NE(former.find(":1: GRANARY_BREATH is now called GRANARY_REUSE; the value is used\n"), std::string::npos)
        << former;
}

TEST(Options, ALongLineIsReadOrShownInPart) {
    const std::string blanks(10000, ' ');
    EXPECT_EQ(read_file("RETAIN =" + blanks + "3M" + blanks.substr(5000) + "\n").options.retain, 3 * kMiB);
    EXPECT_EQ(complaint("FOO=" + std::string(10000, 'x')),
              ":1: FOO=" + std::string(kShownOptionBytes - 4, 'x') + "...: unknown option; see 'granary options'\n");
}

TEST(Options, AFileThatIsTooLongIsIgnoredAsAWhole) {
    const std::string setting = "RETAIN=3M\n#";
    const std::string most = setting + std::string(kOptionFileBytes - setting.size(), '-');
    EXPECT_EQ(read_file(most).options.retain, 3 * kMiB);
    EXPECT_EQ(complaint(most + "-"), ": the file has more than " + std::to_string(kOptionFileBytes) + " bytes\n");
    EXPECT_EQ(read_file(most + "-").options.retain, kRetainBytes);
}

TEST(Options, AFileThatIsNotThereIsMissedOnlyIfItIsNamed) {
    const auto file = [](const char *path, std::vector<const char *> environment) {
        environment.push_back(nullptr);
        return read_all({.file = path, .environment = environment.data()});
    };
    EXPECT_EQ(file("/no/such/file", {}).warnings, "");
    EXPECT_EQ(file("/proc", {}).warnings, "granary: ignoring /proc: the file cannot be read (error 21)\n");
    const Read named = file("/no/such/file", {"GRANARY_OPTIONS_FILE=/no/such/other"});
    EXPECT_EQ(named.warnings, "granary: ignoring /no/such/other: the file cannot be read (error 2)\n");
    EXPECT_EQ(named.options.options_file, 0U) << "it was not read";
}

TEST(Options, TheEnvironmentAndTheProgramNameAFile) {
    const File usual("RETAIN=1K\n");
    const File other("RETAIN=2K\n");
    const auto retain = [&](const std::string &program, std::vector<const char *> environment) {
        environment.push_back(nullptr);
        return read_all({.program = program.c_str(), .file = usual.path(), .environment = environment.data()});
    };
    const std::string in_program = std::string("options_file=") + other.path();
    const std::string in_environment = std::string("GRANARY_OPTIONS_FILE=") + other.path();
    EXPECT_EQ(retain("", {}).options.retain, kKiB);
    EXPECT_EQ(retain(in_program, {}).options.retain, 2 * kKiB);
    EXPECT_EQ(retain("options_file=", {}).options.retain, kRetainBytes) << "no file";
    EXPECT_EQ(retain("", {in_environment.c_str()}).options.retain, 2 * kKiB);
    EXPECT_EQ(retain(in_program, {"granary_options_file="}).options.retain, kRetainBytes);
    const Read wrong = retain("", {"GRANARY_OPTIONS_FILE=options"});
    EXPECT_EQ(wrong.options.retain, kKiB) << "a bad value changes nothing";
    EXPECT_EQ(wrong.warnings,
              "granary: ignoring GRANARY_OPTIONS_FILE=options: expected an absolute path of printable ASCII characters "
              "without quotes and backslashes\n");
}

TEST(Options, AProgramsSettingsAreSeparatedBySemicolonsOrLines) {
    const Read result =
        read_all(OptionSources{.program = ";RETAIN=3M; limit = 1G,2G ;\nGRANARY_DIRECT=8M\n# ; STATS=json"});
    EXPECT_EQ(result.warnings, "");
    EXPECT_EQ(result.options.retain, 3 * kMiB);
    EXPECT_EQ(result.options.soft_limit, kGiB);
    EXPECT_EQ(result.options.hard_limit, 2 * kGiB);
    EXPECT_EQ(result.options.direct, 8 * kMiB);
    EXPECT_EQ(result.options.stats, static_cast<std::size_t>(StatisticsMode::json)) << "the semicolon ends the comment";
    EXPECT_EQ(read_all(OptionSources{.program = "RETAIN=3M,LIMIT=1G"}).warnings,
              "granary: ignoring gr_options: RETAIN=3M,LIMIT=1G: expected bytes, as in 8M\n");
    const std::string most = "RETAIN=3M;" + std::string(kProgramOptionBytes - 10, ' ');
    EXPECT_EQ(read_all(OptionSources{.program = most.c_str()}).options.retain, 3 * kMiB);
    const Read more = read_all(OptionSources{.program = (most + " ").c_str()});
    EXPECT_EQ(more.warnings, "granary: ignoring gr_options: the text has more than 4096 bytes\n");
    EXPECT_EQ(more.options.retain, kRetainBytes);
}

TEST(Options, PathsOfAllTextsStay) {
    const File file("COLLECTIONS=/of/a/file # here\n");
    const Read result = read_all({.program = "PROFILE_FOLDER=/of/a/program;", .file = file.path()});
    EXPECT_EQ(result.warnings, "");
    EXPECT_STREQ(reinterpret_cast<const char *>(result.options.profile_folder), "/of/a/program");
    EXPECT_STREQ(reinterpret_cast<const char *>(result.options.collections), "/of/a/file");
    EXPECT_EQ(result.options.options_file, reinterpret_cast<std::size_t>(file.path()));
}

void append(void *sink, const Text &line) { static_cast<std::string *>(sink)->append(line.data(), line.size()); }

TEST(Options, PrintedTextCanBeReadBack) {
    const Read set = read({"GRANARY_STATS=text", "GRANARY_DIRECT=123456789", "GRANARY_RSEQ=off", "GRANARY_MAGAZINE=1M",
                           "GRANARY_LIMIT=1M,2M", "GRANARY_HUGE_PAGES=never", "GRANARY_JUNK=free",
                           "GRANARY_PROFILE=on,USR2,every=1G"});
    std::string text;
    print_options(set.options, false, append, &text);
    std::vector<std::string> variables;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        variables.push_back(text.substr(at, text.find(' ', at) - at));
    }
    ASSERT_EQ(variables.size(), sizeof(Options) / sizeof(std::size_t) - 3)
        << "one for each, but two limits, and a profile with its signal and its interval: " << text;
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
    EXPECT_EQ(again.options.profile_moments, set.options.profile_moments);
    EXPECT_EQ(again.options.profile_every, kGiB);
    EXPECT_EQ(again.options.junk, static_cast<std::size_t>(JunkMode::free));
}

// As long as the kernel lets a variable be.
TEST(Options, PrintsAPathOfAnyLengthWhole) {
    for (const std::size_t length : {60U, 500U, 512U, 513U, 6000U, 130000U}) {
        const std::string variable = "GRANARY_PROFILE_FOLDER=/" + std::string(length, 'f');
        const Read set = read({variable.c_str()});
        ASSERT_EQ(set.warnings, "");
        std::string text;
        print_options(set.options, false, append, &text);
        EXPECT_NE(text.find(variable + " environment fixed "), std::string::npos) << length;
        std::string json;
        print_options(set.options, true, append, &json);
        EXPECT_NE(json.find("/" + std::string(length, 'f') + R"(", "origin": "environment")"), std::string::npos)
            << length;
        EXPECT_EQ(json.substr(json.size() - 3), "\n]\n");
    }
}

TEST(Options, PrintsJsonAndTellsTheOrigin) {
    const Read set = read({"GRANARY_RETAIN=5"});
    std::string json;
    print_options(set.options, true, append, &json);
    EXPECT_EQ(json.substr(0, 2), "[\n");
    EXPECT_EQ(json.substr(json.size() - 3), "\n]\n");
    EXPECT_NE(json.find(R"({"name": "GRANARY_RETAIN", "value": "5", "origin": "environment", "changeable": true, )"
                        R"("unit": "bytes")"),
              std::string::npos)
        << json;
    EXPECT_NE(json.find(R"({"name": "GRANARY_RSEQ", "value": "on", "origin": "default", "changeable": false, )"),
              std::string::npos)
        << json;
}

TEST(Options, WhatComesLaterOverridesAndIsTheOrigin) {
    const File file("RETAIN=2\nDIRECT=2\nREUSE=none\n");
    const char *const environment[] = {"GRANARY_RETAIN=3", "GRANARY_MAGAZINE=none", nullptr};
    const Read set =
        read_all({.program = "RETAIN=1;DIRECT=1;REUSE=1;MAGAZINE=1", .file = file.path(), .environment = environment});
    const auto row = [&](const std::string &name) {
        std::string text;
        print_options(set.options, false, append, &text);
        const std::size_t at = text.find("GRANARY_" + name + "=");
        const std::size_t value = text.find('=', at) + 1;
        const std::size_t origin = text.find_first_not_of(' ', text.find(' ', value));
        return text.substr(value, text.find(' ', value) - value) + " " +
               text.substr(origin, text.find(' ', origin) - origin);
    };
    EXPECT_EQ(row("RETAIN"), "3 environment");
    EXPECT_EQ(row("DIRECT"), "2 file");
    EXPECT_EQ(row("REUSE"), "1 program") << "what cannot be used overrides nothing";
    EXPECT_EQ(row("MAGAZINE"), "1 program");
    EXPECT_EQ(row("RSEQ"), "on default");
    set_origin(*find_option("RSEQ"), OptionOrigin::run_time);
    EXPECT_EQ(row("RSEQ"), "on run-time");
}

TEST(Options, ValuesAreFoundByNameInAnyCase) {
    const Options options = Options::defaults();
    const auto value = [&](const char *name) {
        OptionText room;
        return std::string(option_value(options, name, &room).value_or("none"));
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

}  // namespace gr::options_test
