// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the commands, their options and their operands as plain rows, for whoever shows them in another form than the
//    help.
// Invariant: what the help shows is in the rows, in the same order and words; what the help hides is not.
// Must not know: any command, and what the rows are for.
#pragma once

#include <string>
#include <vector>

namespace gr::tool {

struct OptionRow {
    std::vector<std::string> names;  // "-o" and "--output"; of an operand the only name in the help, such as "TRACE"
    std::string value;               // as in the help: "FILE", "peak|end|total"; empty: there is none
    bool value_is_optional = false;  // may be written as in --stats=json only
    bool repeats = false;            // may be given more than once
    std::string description;
};

struct CommandRow {
    std::string name;
    std::string description;
    std::vector<OptionRow> options;
    std::vector<OptionRow> operands;  // in front of the program, where there is one
    bool takes_program = false;       // a program and its arguments follow the options and operands
    bool takes_words = false;         // granary parses none of the words
};

struct CommandTable {
    std::vector<OptionRow> options;  // in front of every command
    std::vector<CommandRow> commands;
};

}  // namespace gr::tool
