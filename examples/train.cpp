// Trains a small gated model on synthetic text, bytes as tokens: train DIRECTORY
#include <sluice/sluice.h>

#include <iostream>

constexpr const char* kRun = R"({
  "model": "tiny-elementwise", "sequence": 64, "batch_tokens": 1024, "pass_tokens": 1024, "steps": 40,
  "schedule": {"kind": "cosine", "peak": 0.003, "warmup": 5}, "validation": {"every": 20}
})";

int main(int count, char** arguments) try {
  if (count != 2) throw sluice::usage_error({.what = "usage: train DIRECTORY"});
  const std::filesystem::path directory = arguments[1];
  std::filesystem::create_directories(directory);
  const std::filesystem::path text = directory / "text.jsonl", tokens = directory / "text.tokens";

  sluice::Engine engine;
  sluice::write_synth_corpus({.out = text, .documents = 200});
  sluice::tokenize_files(sluice::Tokenizer::bytes(), {.files = {text.string()}, .out = tokens},
                         engine.threads());

  // What the commands print as progress, a program gets as calls. `cancelled` would stop the run, saved.
  const sluice::RunObserver observer{.validated = [](const sluice::Validation& validation) {
    std::cout << "validation loss " << validation.loss << '\n';
  }};
  const sluice::TrainingJob job{
      .config = sluice::read_run_config(sluice::Json::parse(kRun, "run"), {"model.vocab_size=256"}),
      .shards = sluice::open_shards({tokens.string()}, {.threads = engine.threads()}),
      .out = directory / "run",
      .tokenizer = "bytes"};
  const sluice::TrainingOutcome outcome = run_training(engine, job, {}, observer);
  std::cout << to_text(outcome);
  return outcome.end == sluice::RunEnd::Finished ? 0 : 1;
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
