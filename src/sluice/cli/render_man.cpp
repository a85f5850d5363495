#include <fmt/format.h>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

// Hyphens that must stay hyphens, and characters that roff reads as commands.
std::string roff_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string command_section(const Command& command) {
  const DeclaredCommand declared = declare(command);
  std::string text = fmt::format(".SS {}\n{}\n.PP\n.B {}\n", roff_escaped(command.name),
                                 roff_escaped(command.description), roff_escaped(usage_line(declared)));
  for (const auto& option : declared.options->descriptions()) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff_escaped(signature(option)), roff_escaped(option.text));
  }
  for (const std::string& example : command.examples)
    text += ".PP\n.EX\n" + roff_escaped(example) + "\n.EE\n";
  return text;
}

}  // namespace

std::string man_page() {
  std::string page = fmt::format(".TH SLUICE 1 \"\" \"{}\" \"User Commands\"\n", version_line());
  page += ".SH NAME\nsluice \\- a laboratory for gated attention in language models\n";
  page += ".SH SYNOPSIS\n.B sluice\n.I COMMAND\n[options]\n";
  page += ".SH COMMANDS\n";
  for (const Command& command : commands()) page += command_section(command);
  page += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes())
    page += fmt::format(".TP\n.B {}\n{}\n", code, roff_escaped(meaning));
  page += ".SH ENVIRONMENT\n.TP\n.B SLUICE_ISA\nThe instruction set to use when \\-\\-isa is not given.\n";
  return page;
}

}  // namespace sluice::cli
