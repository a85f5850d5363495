#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/data_options.h"
#include "sluice/cli/overwriting.h"
#include "sluice/cli/use_case.h"
#include "sluice/data/synth_corpus.h"
#include "sluice/data/token_shard_report.h"
#include "sluice/data/tokenize.h"

namespace sluice::cli {
namespace {

void synthesise(const DataOptions& options, const Session& session) {
  SynthCorpusRequest request{.out = *options.out,
                             .kinds = options.text_kinds(),
                             .seed = static_cast<uint64_t>(options.seed.value_or(0)),
                             .bytes = options.bytes};
  request.documents = options.documents.value_or(request.documents);
  if (options.is_backcopy()) {
    request.backcopy_start = options.start.start();
    request.backcopy_letters = options.letters.value_or(BackcopyChain::usual_letters(request.backcopy_start));
  }
  const SynthCorpus corpus = write_synth_corpus(request, job_control(session));
  print_result(session, corpus);
}

TokenId end_of_text(const DataOptions& options, const Tokenizer& tokenizer) {
  if (!options.end_of_text) return end_of_text_of(tokenizer);
  const std::optional<TokenId> id = tokenizer.token_to_id(*options.end_of_text);
  if (id) return *id;
  throw usage_error({.where = "--end-of-text",
                     .what = fmt::format("the tokenizer has no token \"{}\"", *options.end_of_text),
                     .hint = "leave it out for the usual one"});
}

void tokenize(const DataOptions& options, const Session& session) {
  refuse_overwriting(*options.out, options.files);
  const Tokenizer tokenizer = Tokenizer::named(options.files.front());
  const TokenizeRequest request{.files = {options.files.begin() + 1, options.files.end()},
                                .format = options.format.format(),
                                .out = *options.out,
                                .end_of_text = end_of_text(options, tokenizer),
                                .piece_tokens = options.pieces};
  const TokenShardInfo info =
      tokenize_files(tokenizer, request, Threads(session.options.threads), job_control(session));
  print_result(session, WrittenTokenShard{.path = request.out, .info = info});
}

void run(const DataOptions& options, const Session& session) {
  check(options);
  if (options.action == "synth") return synthesise(options, session);
  if (options.action == "tokenize") return tokenize(options, session);
  print_result(session, check_token_shard(options.files.front()));
}

}  // namespace

Command data_command() {
  return {
      .name = "data",
      .summary = "Write synthetic text, turn text into token shards, check shards",
      .description =
          "synth writes synthetic, English-like text, for experiments without a corpus: a line {\"text\", "
          "\"kind\"} per document in a .jsonl, or plain text in a .txt. tokenize turns texts into a shard of "
          "token ids, which training maps into memory: a .txt is one document, a .jsonl has one per line, "
          "and "
          "empty documents are left out. info verifies a shard and prints its figures.",
      .examples = {"sluice data synth --out corpus.jsonl --bytes 10000000 --seed 1",
                   "sluice data synth --out code.txt --kind code --documents 50",
                   "sluice data synth --out nursery.jsonl --kind backcopy --documents 20000",
                   "sluice data tokenize tokenizer.json corpus.jsonl --out corpus.tokens",
                   "sluice data tokenize tokenizer.json corpus.jsonl --pieces 128 --out begun.tokens",
                   "zstdcat corpus.zst | sluice data tokenize tokenizer.json - --format jsonl --out c.tokens",
                   "sluice data info corpus.tokens --json"},
      .declare = [](Options& options) -> Action {
        auto target = std::make_shared<DataOptions>();
        declare(options, *target);
        return [target](const Session& session) { run(*target, session); };
      }};
}

}  // namespace sluice::cli
