#include "sluice/cli/text_options.h"

#include "sluice/base/error.h"

namespace sluice::cli {

void TextOptions::declare(Options& options) {
  options.list({.name = "--data",
                .value = "FILE...",
                .text = "Text: .txt, .jsonl with a text field, packed (.gz, .bz2, .xz, .zst) or not, - for "
                        "stdin; or token shards"},
               data);
  format.declare(options);
  options.text(
      {.name = "--ids-file", .value = "FILE", .text = "Token ids, separated by white space, instead of text"},
      ids_file);
  options.flag("--held-out", held_out,
               "Take what the run of this model held out of its training, all of it; --data then says where "
               "the run's data are, if they were moved");
}

TextSource TextOptions::source(const std::string& command) const {
  if (held_out) {
    if (ids_file.empty() && format.word.empty()) return HeldOutText{data};
    throw usage_error({.where = command, .what = "--held-out takes neither --ids-file nor --format"});
  }
  if (ids_file.empty() == data.empty())
    throw usage_error({.where = command, .what = "give either --data or --ids-file, or --held-out"});
  if (data.empty() && !format.word.empty())
    throw usage_error({.where = command, .what = "--format is of --data"});
  if (data.empty()) return IdsFile{ids_file};
  return DataFiles{.paths = data, .format = format.format()};
}

}  // namespace sluice::cli
