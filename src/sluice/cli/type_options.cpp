#include "sluice/cli/type_options.h"

#include <fmt/format.h>

#include "sluice/base/error.h"

namespace sluice::cli {
namespace {

LabelledTexts type_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size())
    return read_type(text.substr(0, equals), text.substr(equals + 1));
  throw usage_error({.where = "--type",
                     .what = "not a label and a file",
                     .expected = "LABEL=FILE",
                     .got = fmt::format("\"{}\"", text)});
}

}  // namespace

void TypeOptions::declare(Options& options) {
  options.integer({.name = "--samples",
                   .value = "N",
                   .text = "Generated samples of each type of text (factual, technical, conversational, "
                           "repetitive, code-like) to compare gates on (default: 0, none)",
                   .low = 0,
                   .high = 100000},
                  samples);
  options.repeated({.name = "--type",
                    .value = "LABEL=FILE",
                    .text = "Samples of a type of text, one per line or document, instead of generated ones"},
                   types);
  options.integer({.name = "--sample-tokens",
                   .value = "N",
                   .text = "Tokens of every sample; shorter texts are left out (default: 48)",
                   .low = 1,
                   .high = 1 << 20},
                  length);
}

std::vector<LabelledTexts> TypeOptions::texts() const {
  if (types.empty() && samples == 1)
    throw usage_error({.where = "--samples",
                       .what = "one sample is no sample",
                       .expected = "0, or at least 2",
                       .got = "1"});
  if (types.empty()) return generated_types(samples.value_or(0), 1);
  if (samples) throw usage_error({.where = "--samples", .what = "is of the texts that --type replaces"});
  if (types.size() < 2) throw usage_error({.where = "--type", .what = "give two types or more"});
  std::vector<LabelledTexts> read;
  for (const std::string& type : types) read.push_back(type_of(type));
  return read;
}

std::vector<std::string> TypeOptions::files() const {
  std::vector<std::string> files;
  for (const std::string& type : types) files.push_back(type.substr(type.find('=') + 1));
  return files;
}

}  // namespace sluice::cli
