// What `sluice help` shows beside commands: the documents of docs/, built in, and the list of presets. So an
// installed program has them wherever it is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

struct Document {
  std::string_view name;  // "models"
  std::string_view text;  // Markdown
};

// Sorted by name. Defined in a source that the build makes from the files.
std::span<const Document> documents();

struct Topic {
  std::string name;  // as it is asked for: a document that is called like a command keeps its ".md"
  std::string title;
};

std::vector<Topic> topics();

// None if there is no such topic. A document may be asked for with and without its ".md".
std::optional<std::string> topic_text(const std::string& name);

}  // namespace sluice::cli
