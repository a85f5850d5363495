// Descriptions of the program made from the command table: help, man page, docs/commands.md, shell
// completion.
#pragma once

#include <string>
#include <vector>

#include "sluice/cli/command.h"

namespace sluice::cli {

std::string version_line();  // "sluice 0.1.0"

// Text filled to the width of a terminal, every line indented.
std::string filled(const std::string& text, size_t indent);

// A Markdown document for a terminal.
std::string rendered_document(std::string_view markdown);

std::string overview_text();                             // sluice help
std::string help_text(const DeclaredCommand& declared);  // sluice help COMMAND
std::string man_page();                                  // roff
std::string markdown_reference();                        // docs/commands.md
std::string bash_completion();

// A command's text as its result: as it is, or as {"text": …}.
void print_text(const Session& session, const std::string& text);

// "--threads N"
std::string signature(const OptionDescription& option);

// "sluice doctor [options]"
std::string usage_line(const DeclaredCommand& declared);

struct ExitCodeDescription {
  int code;
  const char* meaning;
};

const std::vector<ExitCodeDescription>& exit_codes();

}  // namespace sluice::cli
