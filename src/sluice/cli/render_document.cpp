// A document of docs/ for a terminal: filled lines, marks of Markdown taken away, tables as entries.
#include <fmt/format.h>

#include <sstream>

#include "sluice/cli/render.h"

namespace sluice::cli {
namespace {

// Of a text that begins with "[words](": the length of the words, else 0.
size_t link_words(std::string_view text) {
  const size_t end = text.find(']');
  const bool is_link = text.starts_with('[') && end != text.npos && text.substr(end).starts_with("](");
  return is_link ? end - 1 : 0;
}

// Without emphasis, and links as their words. Code stays as it is, but for its quotes.
std::string unmarked(std::string_view text) {
  std::string plain;
  bool in_code = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] == '`') {
      in_code = !in_code;
    } else if (!in_code && rest.starts_with("**")) {
      ++i;
    } else if (const size_t words = in_code ? 0 : link_words(rest); words > 0) {
      plain += unmarked(rest.substr(1, words));
      i = std::min(text.find(')', i + words), text.size());
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// "| a | b \| c |" → {a, b | c}
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells(1);
  for (size_t i = 1; i < row.size(); ++i) {
    const bool escaped = row.substr(i).starts_with("\\|");
    if (row[i] == '|' && i + 1 < row.size()) {
      cells.emplace_back();
    } else if (row[i] != '|') {
      cells.back() += row[i += escaped ? 1 : 0];
    }
  }
  return cells;
}

// The first cell, and below it the others.
std::string entry_of(std::string_view row) {
  const std::vector<std::string> cells = cells_of(row);
  std::string text, below;
  if (cells.front().find_first_not_of(' ') != std::string::npos) text = filled(unmarked(cells.front()), 2);
  for (size_t i = 1; i < cells.size(); ++i)
    if (cells[i].find_first_not_of(' ') != std::string::npos)
      below += (below.empty() ? "" : " · ") + unmarked(cells[i]);
  return below.empty() ? text : text + filled(below, 6);
}

class DocumentRenderer {
 public:
  void add(std::string_view line) {
    if (line.starts_with("```")) {
      end_paragraph();
      in_code_ = !in_code_;
    } else if (in_code_) {
      text_ += fmt::format("  {}\n", line);
    } else if (line.starts_with("<!--") || line.starts_with("![") || line.starts_with("|--")) {
      end_paragraph();
    } else if (line.starts_with("|")) {
      end_paragraph();
      text_ += entry_of(line);
    } else if (line.starts_with("#")) {
      end_paragraph();
      add_heading(line);
    } else {
      add_words(line);
    }
  }

  std::string finish() {
    end_paragraph();
    return std::move(text_);
  }

 private:
  void add_heading(std::string_view line) {
    const bool title = line.starts_with("# ");
    const std::string words = unmarked(line.substr(line.find_first_not_of("# ")));
    text_ += fmt::format("{}\n{}\n", words, std::string(words.size(), title ? '=' : '-'));
  }

  void add_words(std::string_view line) {
    if (line.empty() || line.starts_with("- ")) end_paragraph();
    if (line.empty()) text_ += '\n';
    paragraph_ += fmt::format("{}{}", paragraph_.empty() ? "" : " ", line);
  }

  // An item of a list hangs behind its dash.
  void end_paragraph() {
    if (paragraph_.empty()) return;
    const bool item = paragraph_.starts_with("- ");
    std::string lines = filled(unmarked(paragraph_).substr(item ? 2 : 0), item ? 2 : 0);
    if (item) lines[0] = '-';
    text_ += lines;
    paragraph_.clear();
  }

  std::string text_, paragraph_;
  bool in_code_ = false;
};

}  // namespace

std::string rendered_document(std::string_view markdown) {
  DocumentRenderer renderer;
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) renderer.add(line);
  return renderer.finish();
}

}  // namespace sluice::cli
