#include "sluice/experiment/experiment_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/file_system.h"
#include "sluice/base/sha256.h"
#include "sluice/data/synth_corpus.h"
#include "sluice/data/tokenize.h"
#include "sluice/data/tokenizer_training.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// A file may be replaced by another of its name: what its bytes are tells them apart, as `sha256sum` prints
// it.
std::string content_name(const fs::path& file) {
  constexpr size_t kBytes = ExperimentText::kContentDigits / 2;  // alike by chance once in 10^14
  const MappedFile mapped(file);
  const Sha256 digest = sha256({reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()});
  return fmt::format("{:02x}", fmt::join(std::span(digest).first(kBytes), ""));
}

fs::path own_text(const ExperimentText& text, const fs::path& home) {
  const fs::path file = home / text.file;
  if (fs::exists(file)) return file;
  throw bad_input(
      {.where = file.string(),
       .what = "the text of the experiment is not there",
       .hint = fmt::format("scripts/get-corpus.sh --out {} makes one", file.parent_path().string())});
}

// Of the files that are made of a text, without their endings.
std::string stem_of(const ExperimentText& text, const fs::path& home) {
  if (text.kind != ExperimentText::Kind::File) return text.stem();
  return fmt::format("{}-{}", text.stem(), content_name(own_text(text, home)));
}

// What the tokens are made from.
fs::path written_text(const ExperimentText& text, const fs::path& home, const JobControl& control) {
  if (text.kind == ExperimentText::Kind::File) return own_text(text, home);
  SynthCorpusRequest request{.out = home / (text.stem() + ".jsonl"), .seed = text.seed};
  if (text.kind == ExperimentText::Kind::Backcopy) {
    request.documents = text.documents;
    request.backcopy_letters = BackcopyChain::usual_letters(text.start);
    request.backcopy_start = text.start;
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
  const std::string stem = stem_of(text, home);
  const fs::path vocabulary = home / (stem + ".tokenizer.json");
  ExperimentTokens prepared{.tokens = home / (stem + ".tokens"),
                            .tokenizer = text.vocabulary == 0 ? "bytes" : vocabulary.string()};
  if (fs::exists(prepared.tokens)) return prepared;
  const fs::path file = written_text(text, home, control);
  if (text.vocabulary != 0)
    train_tokenizer({.files = {file.string()}, .out = vocabulary, .vocabulary = text.vocabulary}, threads,
                    control);
  const Tokenizer tokenizer = Tokenizer::named(prepared.tokenizer);
  tokenize_files(tokenizer,
                 {.files = {file.string()},
                  .out = prepared.tokens,
                  .end_of_text = end_of_text_of(tokenizer),
                  .piece_tokens = text.pieces},
                 threads, control);
  return prepared;
}

}  // namespace sluice
