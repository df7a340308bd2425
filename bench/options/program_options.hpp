// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options of a workload or a test program.
// Invariant: CLI11, which takes ten seconds to compile, is read by one source, not by each program. A value that is not
//    given stays as it is, and is shown as the default.
// Must not know: any program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::bench {

// What a number may be, both ends included.
struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = UINT64_MAX;
};

class Options {
  public:
    explicit Options(const std::string &summary, const std::string &program = {});
    ~Options();

    // Each names an option, where its value goes, and what it means. All before parse(); the values outlive it.
    void number(const std::string &name, unsigned &value, const std::string &what, Range range = {});
    void number(const std::string &name, std::size_t &value, const std::string &what, Range range = {});
    void seconds(const std::string &name, double &value, const std::string &what);
    void word(const std::string &name, std::string &value, const std::string &what, std::vector<std::string> words);
    void text(const std::string &name, std::string &value, const std::string &what);
    void file(const std::string &name, std::string &value, const std::string &what);
    void flag(const std::string &name, bool &value, const std::string &what);

    // A command line with both options is an error.
    void exclude(const std::string &name, const std::string &other);

    // false: the program ends with exit_code(), since the words are wrong or ask for help.
    bool parse(int argc, char **argv);
    int exit_code() const { return exit_code_; }
    bool given(const std::string &name) const;

  private:
    class Parser;

    std::unique_ptr<Parser> parser_;
    int exit_code_ = 0;
};

}  // namespace gr::bench
