// Text as people keep it: .txt, .jsonl with a "text" field, either of them packed (data/compression.h), "-"
// for standard input. What is no text is refused by its content.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/base/file.h"
#include "sluice/base/json.h"
#include "sluice/text/text_format.h"

namespace sluice {

// By the name alone, packed or not. Standard input, "-", has no name that says anything: it is plain.
TextFormat format_named(std::string_view path);

// The whole of a file, unpacked if it is packed. Mapped where that is possible.
class TextInput {
 public:
  explicit TextInput(const std::string& path);

  // As what its documents are read: as asked or else as the name says. Bad input if that says plain text and
  // it looks like JSON Lines.
  TextInput(const std::string& path, std::optional<TextFormat> asked);

  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  std::string_view text() const { return text_; }
  TextFormat format() const { return format_; }

 private:
  std::optional<MappedFile> file_;
  std::string content_;
  std::string_view text_;  // of either
  TextFormat format_ = TextFormat::Plain;
};

// The same as a copy.
std::string read_input(const std::string& path);

// How a message names it.
std::string input_name(const std::string& path);

// Every line of a JSON Lines file that is not blank. The view's document lives only during the call.
void for_each_object(const std::string& path, const std::function<void(const Json&)>& sink);

// Each document of the file: a text file is one, a JSON Lines file has one per line.
void for_each_document(const std::string& path, const std::function<void(std::string_view)>& sink,
                       std::optional<TextFormat> format = {});

// Each line of a text file that is not blank, or each document of a JSON Lines file.
void for_each_prompt(const std::string& path, const std::function<void(std::string_view)>& sink,
                     std::optional<TextFormat> format = {});

}  // namespace sluice
