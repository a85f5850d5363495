#include "sluice/cli/topics.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sluice/cli/commands.h"
#include "sluice/cli/render.h"
#include "sluice/train/run_presets.h"

namespace sluice::cli {
namespace {

constexpr const char* kPresets = "presets";

std::string title_of(const Document& document) {
  const std::string_view line = document.text.substr(0, document.text.find('\n'));
  return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
}

bool is_command(std::string_view name) {
  return std::ranges::any_of(commands(), [&](const Command& command) { return command.name == name; });
}

std::string names_of(std::span<const Preset> presets) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets) names.push_back(preset.name);
  return filled(fmt::format("{}", fmt::join(names, " ")), 2);
}

std::string presets_text() {
  return "Models, for sluice params, sluice init and the \"model\" of a run:\n" + names_of(presets()) +
         "\nRuns, for sluice train, sluice sweep and sluice bench train:\n" + names_of(run_presets()) + "\n" +
         filled(
             "A file of the same name goes before a preset, but in the \"model\" of a run the preset goes "
             "first. sluice params NAME counts a model, sluice train "
             "NAME "
             "--print-config shows all of a run.",
             0);
}

}  // namespace

std::vector<Topic> topics() {
  std::vector<Topic> all;
  for (const Document& document : documents()) {
    const std::string ending = is_command(document.name) ? ".md" : "";
    all.push_back({.name = std::string(document.name) + ending, .title = title_of(document)});
  }
  all.push_back({.name = kPresets, .title = "Configurations of models and runs that are built in"});
  std::ranges::sort(all, {}, &Topic::name);
  return all;
}

std::optional<std::string> topic_text(const std::string& name) {
  if (name == kPresets) return presets_text();
  const std::string_view bare =
      std::string_view(name).substr(0, name.size() - (name.ends_with(".md") ? 3 : 0));
  const auto found = std::ranges::find(documents(), bare, &Document::name);
  if (found == documents().end()) return {};
  return rendered_document(found->text);
}

}  // namespace sluice::cli
