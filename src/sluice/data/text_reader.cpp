#include "sluice/data/text_reader.h"

#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/data/binary_content.h"
#include "sluice/data/compression.h"
#include "sluice/text/lines.h"

namespace sluice {
namespace {

constexpr size_t kMaxUnpacked = size_t{1} << 32;  // larger corpora are tokenized into shards first
constexpr size_t kMaxStream = size_t{1} << 34;    // of standard input, which cannot be mapped

bool is_regular(const std::string& path) {
  std::error_code unknown;  // a path that cannot be looked at is refused when it is opened
  return path != "-" && std::filesystem::is_regular_file(path, unknown);
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// The name of standard input says nothing, and other names may mislead: read as text, the braces and quotes
// would be part of it.
void refuse_json_lines(std::string_view content, const std::string& where) {
  const size_t start = std::min(content.find_first_not_of(" \t\r\n"), content.size());
  const std::string_view line = content.substr(start, content.find('\n', start) - start);
  if (!line.starts_with('{')) return;
  try {
    Json::parse(line, where);
  } catch (const Error&) {
    return;  // a text that begins with a brace
  }
  throw bad_input({.where = where,
                   .what = "looks like JSON Lines",
                   .hint = "--format jsonl reads it so, --format text as it is"});
}

TextFormat format_of(const std::string& path, std::string_view content, std::optional<TextFormat> asked) {
  if (asked) return *asked;
  const TextFormat named = format_named(path);
  if (named == TextFormat::Plain) refuse_json_lines(content, input_name(path));
  return named;
}

void for_each_object_of(std::string_view content, const std::string& name,
                        const std::function<void(const Json&)>& sink) {
  for_each_line(content, 1, [&](size_t number, std::string_view line) {
    sink(Json::parse(line, fmt::format("{}: line {}", name, number)));
  });
}

void for_each_text(std::string_view lines, const std::string& name,
                   const std::function<void(std::string_view)>& sink) {
  for_each_object_of(lines, name, [&](const Json& object) { sink(object.text("text")); });
}

}  // namespace

TextFormat format_named(std::string_view path) {
  return without_packing(path).ends_with(".jsonl") ? TextFormat::JsonLines : TextFormat::Plain;
}

std::string input_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

TextInput::TextInput(const std::string& path) {
  const std::string name = input_name(path);
  if (is_regular(path)) {
    file_.emplace(path);
    text_ = text_of(*file_);
  } else {
    content_ = read_text(path == "-" ? "/dev/stdin" : path, kMaxStream);
    text_ = content_;
  }
  std::optional<Compression> compression = compression_of(text_);
  if (!compression) compression = compression_named(path);
  if (compression) {
    content_ = unpack(text_, *compression, name, kMaxUnpacked);
    file_.reset();
    text_ = content_;
  }
  refuse_binary(text_, name);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

TextInput::TextInput(const std::string& path, std::optional<TextFormat> asked) : TextInput(path) {
  format_ = format_of(path, text_, asked);
}

std::string read_input(const std::string& path) {
  return std::string(TextInput(path).text());
}

void for_each_object(const std::string& path, const std::function<void(const Json&)>& sink) {
  const TextInput input(path);
  for_each_object_of(input.text(), input_name(path), sink);
}

void for_each_document(const std::string& path, const std::function<void(std::string_view)>& sink,
                       std::optional<TextFormat> format) {
  const TextInput input(path, format);
  if (input.format() == TextFormat::JsonLines) return for_each_text(input.text(), input_name(path), sink);
  sink(input.text());
}

void for_each_prompt(const std::string& path, const std::function<void(std::string_view)>& sink,
                     std::optional<TextFormat> format) {
  const TextInput input(path, format);
  if (input.format() == TextFormat::JsonLines) return for_each_text(input.text(), input_name(path), sink);
  for_each_line(input.text(), 1, [&](size_t, std::string_view line) {
    sink(line.substr(0, line.find_last_not_of('\r') + 1));
  });
}

}  // namespace sluice
