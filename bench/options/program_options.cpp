// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: options by CLI11.
// Invariant: as program_options.hpp.
// Must not know: any program.
#include "program_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

namespace gr::bench {

class Options::Parser : public CLI::App {
  public:
    using CLI::App::App;

    template <typename Value>
    CLI::Option *add(const std::string &name, Value &value, const std::string &what) {
        return add_option(name, value, what)->capture_default_str();
    }

    template <typename Number>
    void add_number(const std::string &name, Number &value, const std::string &what, const Range &range) {
        CLI::Option *const option = add(name, value, what);
        const std::uint64_t last = std::min<std::uint64_t>(range.last, std::numeric_limits<Number>::max());
        if (range.first != 0 || range.last != Range().last)
            option->check(CLI::Range(static_cast<Number>(range.first), static_cast<Number>(last)));
    }
};

Options::Options(const std::string &summary, const std::string &program)
    : parser_(std::make_unique<Parser>(summary, program)) {}

Options::~Options() = default;

void Options::number(const std::string &name, unsigned &value, const std::string &what, Range range) {
    parser_->add_number(name, value, what, range);
}

void Options::number(const std::string &name, std::size_t &value, const std::string &what, Range range) {
    parser_->add_number(name, value, what, range);
}

void Options::seconds(const std::string &name, double &value, const std::string &what) {
    parser_->add(name, value, what)->check(CLI::PositiveNumber);
}

void Options::word(const std::string &name, std::string &value, const std::string &what,
                   std::vector<std::string> words) {
    parser_->add(name, value, what)->check(CLI::IsMember(std::move(words)));
}

void Options::text(const std::string &name, std::string &value, const std::string &what) {
    parser_->add(name, value, what);
}

void Options::file(const std::string &name, std::string &value, const std::string &what) {
    parser_->add(name, value, what)->check(CLI::ExistingFile);
}

void Options::flag(const std::string &name, bool &value, const std::string &what) {
    parser_->add_flag(name, value, what);
}

void Options::exclude(const std::string &name, const std::string &other) {
    parser_->get_option(name)->excludes(parser_->get_option(other));
}

bool Options::parse(int argc, char **argv) {
    try {
        parser_->parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        exit_code_ = parser_->exit(error);
        return false;
    }
    return true;
}

bool Options::given(const std::string &name) const { return parser_->count(name) != 0; }

}  // namespace gr::bench
