// How likely a model finds a text, with an interval: evaluate MODEL
#include <sluice/sluice.h>

#include <iostream>
#include <nlohmann/json.hpp>

int main(int count, char** arguments) try {
  if (count != 2) throw sluice::usage_error({.what = "usage: evaluate MODEL"});
  sluice::Engine engine;
  const sluice::LoadedModel model(engine, arguments[1]);

  // A text of one's own, from a socket or anywhere else; sluice::DataFiles{{"a.txt"}} would read files.
  std::string text;
  for (uint64_t index = 0; index < 4; ++index) text += sluice::synth_document({.seed = 9, .index = index});
  const sluice::ChunkedText chunks = read_chunks(model, text, {.length = 64, .at_most = 10});
  const sluice::Evaluation evaluation = evaluate(model, {.text = chunks});

  std::cout << to_text(evaluation);                  // for a person
  std::cout << to_json(evaluation).dump(2) << '\n';  // for a program
  return evaluation.chunks.size() == 10 ? 0 : 1;
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
