#include "sluice/data/text_reader.h"

#include <fmt/format.h>

#include "sluice/base/file.h"
#include "sluice/data/gzip.h"
#include "sluice/text/lines.h"

namespace sluice {
namespace {

constexpr size_t kMaxInput = size_t{1} << 32;  // unpacked; larger corpora are tokenized into shards first

}  // namespace

std::string input_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

std::string read_input(const std::string& path) {
  std::string content = read_text(path == "-" ? "/dev/stdin" : path, kMaxInput);
  if (is_gzip(content) || path.ends_with(".gz")) return gunzip(content, input_name(path), kMaxInput);
  return content;
}

void for_each_object(const std::string& path, const std::function<void(const Json&)>& sink) {
  const std::string content = read_input(path);
  for_each_line(content, 1, [&](size_t number, std::string_view line) {
    sink(Json::parse(line, fmt::format("{}: line {}", input_name(path), number)));
  });
}

void for_each_document(const std::string& path, const std::function<void(std::string_view)>& sink,
                       std::optional<TextFormat> format) {
  if (format.value_or(format_named(path)) == TextFormat::JsonLines) {
    for_each_object(path, [&](const Json& object) { sink(object.text("text")); });
  } else {
    sink(read_input(path));
  }
}

void for_each_prompt(const std::string& path, const std::function<void(std::string_view)>& sink) {
  if (format_named(path) == TextFormat::JsonLines) return for_each_document(path, sink);
  const std::string content = read_input(path);
  for_each_line(content, 1, [&](size_t, std::string_view line) {
    sink(line.substr(0, line.find_last_not_of('\r') + 1));
  });
}

}  // namespace sluice
