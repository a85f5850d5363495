// From text to a Json document, under limits. The tree is built here and not by nlohmann's own parser, which
// keeps the last of duplicate keys and has no limit of depth.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sluice/base/file.h"
#include "sluice/base/json.h"
#include "sluice/base/json_document.h"
#include "sluice/base/json_path.h"

namespace sluice {
namespace {

using Node = nlohmann::json;

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// `offset` is that of the offending byte; lines and columns count from 1, columns in characters.
std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::string_view last_line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  const auto column = 1 + std::count_if(last_line.begin(), last_line.end(), starts_character);
  return fmt::format("line {}, column {}", line, column);
}

// nlohmann writes "[id] parse error at line 1, column 2: syntax error while parsing X - REASON; last read:
// 'Y'". The position is ours, and Y may be megabytes of a hostile file; so may the number of an overflow be.
std::string reason(const Node::exception& error) {
  constexpr int kOverflow = 406;
  if (error.id == kOverflow) return "number out of range";
  std::string_view message = error.what();
  if (const auto at = message.find(" - "); at != std::string_view::npos) message.remove_prefix(at + 3);
  return std::string(message.substr(0, message.find("; last read")));
}

class TreeBuilder final : public nlohmann::json_sax<Node> {
 public:
  TreeBuilder(std::string_view text, std::string_view source, JsonLimits limits)
      : text_(text), source_(source), limits_(limits) {}

  Node take_root() { return std::move(root_); }

  bool null() override { return add(nullptr), true; }
  bool boolean(bool value) override { return add(value), true; }
  bool number_integer(std::int64_t value) override { return add(value), true; }
  bool number_unsigned(std::uint64_t value) override { return add(value), true; }
  bool number_float(double value, const std::string&) override { return add(value), true; }
  bool string(std::string& value) override { return add(std::move(value)), true; }
  bool binary(Node::binary_t&) override { return false; }  // cannot occur in text

  bool start_object(std::size_t) override { return open(Node::object()), true; }
  bool start_array(std::size_t) override { return open(Node::array()), true; }
  bool end_object() override { return open_.pop_back(), true; }
  bool end_array() override { return open_.pop_back(), true; }

  bool key(std::string& name) override {
    Open& parent = open_.back();
    parent.key = name;
    const auto [member, is_new] = parent.node->get_ref<Node::object_t&>().try_emplace(std::move(name));
    if (!is_new) throw bad_input({.where = json_location(source_, path()), .what = "duplicate key"});
    parent.member = &member->second;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Node::exception& error) override {
    // `position` counts the offending byte too; at the end of the text it is the size plus one.
    const std::string place = line_and_column(text_, position == 0 ? 0 : position - 1);
    // Versions of nlohmann say different things of nothing at all.
    const std::string what = text_.empty() ? "the text is empty" : reason(error);
    throw bad_input({.where = json_location(source_, place), .what = "invalid JSON: " + what});
  }

 private:
  // A container that is not closed yet. Its address is stable: a parent grows only while it has no open
  // child.
  struct Open {
    Node* node;
    std::string key = {};    // of the member being read
    Node* member = nullptr;  // its value, once the key is read; nodes of an object stay put
  };

  Node* add(Node value) {
    if (++values_ > limits_.values) {
      throw bad_input(
          {.where = std::string(source_), .what = fmt::format("more than {} values", limits_.values)});
    }
    if (open_.empty()) return &(root_ = std::move(value));
    Open& parent = open_.back();
    if (parent.node->is_object()) return &(*parent.member = std::move(value));
    parent.node->push_back(std::move(value));
    return &parent.node->back();
  }

  void open(Node container) {
    if (open_.size() >= limits_.depth) {
      throw bad_input({.where = std::string(source_),
                       .what = fmt::format("nested deeper than {} levels", limits_.depth)});
    }
    open_.push_back({.node = add(std::move(container))});
  }

  std::string path() const {
    std::string path;
    for (const Open& each : open_) {
      path = each.node->is_object() ? member_path(path, each.key) : element_path(path, each.node->size() - 1);
    }
    return path;
  }

  std::string_view text_;
  std::string_view source_;
  JsonLimits limits_;
  std::size_t values_ = 0;
  Node root_;
  std::vector<Open> open_;
};

}  // namespace

Json Json::parse(std::string_view text, const std::string& source_name, JsonLimits limits) {
  if (text.size() > limits.bytes) {
    throw bad_input({.where = source_name,
                     .what = "text too large",
                     .expected = fmt::format("at most {} bytes", limits.bytes),
                     .got = fmt::format("{} bytes", text.size())});
  }
  // The parser takes a zero byte for the end and would not look at what follows it.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw bad_input({.where = json_location(source_name, line_and_column(text, zero)),
                     .what = "invalid JSON: a zero byte"});
  }
  TreeBuilder builder(text, source_name, limits);
  Node::sax_parse(text.begin(), text.end(), &builder);
  auto document = std::make_shared<const Document>(Document{source_name, builder.take_root()});
  const Node* root = &document->root;
  return Json(std::move(document), root, "");
}

Json Json::load(const std::filesystem::path& path, JsonLimits limits) {
  return parse(read_text(path, limits.bytes), path.string(), limits);
}

}  // namespace sluice
