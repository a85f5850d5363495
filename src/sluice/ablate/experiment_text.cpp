#include "sluice/ablate/experiment_text.h"

#include "sluice/base/error.h"
#include "sluice/base/file_system.h"
#include "sluice/data/backcopy.h"
#include "sluice/data/synth_corpus.h"
#include "sluice/data/tokenize.h"
#include "sluice/data/tokenizer_training.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// What the tokens are made from.
fs::path written_text(const ExperimentText& text, const fs::path& home, const JobControl& control) {
  if (text.kind == ExperimentText::Kind::File) {
    const fs::path file = home / text.file;
    if (fs::exists(file)) return file;
    throw bad_input({.where = file.string(),
                     .what = "the text of the experiment is not there",
                     .hint = "scripts/get-corpus.sh --out DIR makes one; put it there"});
  }
  SynthCorpusRequest request{.out = home / (text.stem() + ".jsonl"), .seed = text.seed};
  if (text.kind == ExperimentText::Kind::Backcopy) {
    request.documents = text.documents;
    request.backcopy_letters = BackcopyChain::kUsualLetters;
  } else {
    request.bytes = text.bytes;
  }
  return write_synth_corpus(request, control).path;
}

}  // namespace

ExperimentTokens prepare_text(const ExperimentText& text, const fs::path& home, const Threads& threads,
                              const JobControl& control) {
  std::error_code error;
  fs::create_directories(home, error);
  if (error) throw system_failure(home, "cannot create", error);
  const fs::path vocabulary = home / (text.stem() + ".tokenizer.json");
  ExperimentTokens prepared{.tokens = home / (text.stem() + ".tokens"),
                            .tokenizer = text.vocabulary == 0 ? "bytes" : vocabulary.string()};
  if (fs::exists(prepared.tokens)) return prepared;
  const fs::path file = written_text(text, home, control);
  if (text.vocabulary != 0)
    train_tokenizer({.files = {file.string()}, .out = vocabulary, .vocabulary = text.vocabulary}, threads,
                    control);
  const Tokenizer tokenizer = Tokenizer::named(prepared.tokenizer);
  tokenize_files(tokenizer,
                 {.files = {file.string()}, .out = prepared.tokens, .end_of_text = end_of_text_of(tokenizer)},
                 threads, control);
  return prepared;
}

}  // namespace sluice
