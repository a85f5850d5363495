// What a model is evaluated on: from files, ids or a text to chunks of tokens.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/eval/chunked_text.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/text/text_format.h"

namespace sluice {

// Texts as data/text_reader.h takes them, or token shards: all of them, one document after the other.
struct DataFiles {
  std::vector<std::string> paths;
  std::optional<TextFormat> format = {};  // of all texts; none: as their names say
};

// Token ids, written out.
struct IdsFile {
  std::string path;
};

// What the run that the model belongs to kept out of its training (data/held_out.h). Its sequences are the
// chunks, whatever their length is otherwise: of the options only `at_most` counts, and there must be neither
// a stride nor a begin-of-text token.
struct HeldOutText {
  std::vector<std::string> files = {};  // where the run's data are now; none: where they were
};

// A text itself, its tokens, or where either is found.
using TextSource = std::variant<std::string, std::vector<TokenId>, DataFiles, IdsFile, HeldOutText>;

// One rule for all: documents are tokenized on their own and joined by the end-of-text token, as in a shard;
// the last has none behind it, and empty ones are left out. So a text gives the same tokens as a text file,
// as a line of JSON and from a shard. Ids are taken as they are.
//
// Bad input if there is nothing to predict, if the tokens do not fit the model or are of another tokenizer.
// Only text needs the model's tokenizer.
ChunkedText read_chunks(const LoadedModel& model, const TextSource& source, const ChunkOptions& options = {},
                        const JobControl& control = {});

}  // namespace sluice
