// Reads a page as strictly as XML: every element closed in its order, every attribute quoted, no stray "<" or
// "&". Browsers forgive; whatever they would have to forgive is a text that was not escaped.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct MarkupElement {
  std::string tag;
  std::map<std::string, std::string> attributes;  // still escaped
  std::string text;                               // of its own, still escaped
};

class MarkupReader {
 public:
  explicit MarkupReader(std::string_view page) : rest_(page) {
    while (!rest_.empty()) step();
    if (!open_.empty()) fail("not closed: " + elements[open_.back()].tag);
  }

  std::vector<MarkupElement> elements;

  std::vector<const MarkupElement*> with_tag(const std::string& tag) const {
    std::vector<const MarkupElement*> found;
    for (const MarkupElement& each : elements)
      if (each.tag == tag) found.push_back(&each);
    return found;
  }

  std::vector<std::string> values_of(const std::string& attribute) const {
    std::vector<std::string> values;
    for (const MarkupElement& each : elements)
      if (const auto found = each.attributes.find(attribute); found != each.attributes.end())
        values.push_back(found->second);
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " before: " + std::string(rest_.substr(0, 80)));
  }

  std::string until(std::string_view mark) {
    const size_t end = rest_.find(mark);
    if (end == std::string_view::npos) fail("no " + std::string(mark));
    const std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + mark.size());
    return text;
  }

  bool takes(std::string_view mark) {
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }

  void step() {
    if (takes("<!DOCTYPE")) {
      until(">");
    } else if (takes("</")) {
      close(until(">"));
    } else if (takes("<")) {
      open(until_end_of_tag());
    } else {
      const size_t end = std::min(rest_.find('<'), rest_.size());
      add_text(std::string(rest_.substr(0, end)));
      rest_.remove_prefix(end);
    }
  }

  // A ">" in a quoted value does not end a tag, but escaped text has none.
  std::string until_end_of_tag() {
    const std::string tag = until(">");
    if (tag.find('<') != std::string::npos) fail("a < inside a tag");
    return tag;
  }

  void check_references(const std::string& text) const {
    for (size_t at = 0; (at = text.find('&', at)) != std::string::npos; ++at)
      if (const size_t end = text.find(';', at); end == std::string::npos || end - at > 8) fail("a stray &");
  }

  void add_text(const std::string& text) {
    check_references(text);
    if (!open_.empty()) elements[open_.back()].text += text;
  }

  void open(std::string tag) {
    static const std::set<std::string> kEmpty = {"meta", "link", "br", "img"};
    const bool closed = tag.ends_with('/');
    if (closed) tag.pop_back();
    const size_t end = std::min(tag.find_first_of(" \n"), tag.size());
    MarkupElement element{
        .tag = tag.substr(0, end), .attributes = attributes_of(tag.substr(end)), .text = {}};
    // These hold anything up to their own end.
    if (element.tag == "script" || element.tag == "style") {
      element.text = until("</" + element.tag + ">");
      elements.push_back(element);
      return;
    }
    elements.push_back(element);
    if (!closed && !kEmpty.contains(element.tag)) open_.push_back(elements.size() - 1);
  }

  void close(const std::string& tag) {
    if (open_.empty() || elements[open_.back()].tag != tag) fail("</" + tag + "> closes nothing");
    open_.pop_back();
  }

  std::map<std::string, std::string> attributes_of(std::string_view text) const {
    std::map<std::string, std::string> attributes;
    for (;;) {
      text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
      if (text.empty()) return attributes;
      const size_t equals = text.find("=\""), end = text.find('"', equals + 2);
      if (equals == std::string_view::npos || end == std::string_view::npos)
        fail("an attribute without quotes");
      const std::string name(text.substr(0, equals)), value(text.substr(equals + 2, end - equals - 2));
      if (name.find_first_of(" \n\"'") != std::string::npos) fail("no name of an attribute: " + name);
      check_references(value);
      if (!attributes.emplace(name, value).second) fail("an attribute twice: " + name);
      text.remove_prefix(end + 1);
    }
  }

  std::string_view rest_;
  std::vector<size_t> open_;
};

}  // namespace sluice
