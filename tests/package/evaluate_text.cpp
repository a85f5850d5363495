// Loads a model directory and evaluates a text with it, as sluice eval does: evaluate_text MODEL
#include <iostream>
#include <nlohmann/json.hpp>

#include "sluice/eval/evaluate.h"

int main(int, char** arguments) try {
  sluice::Engine engine;
  sluice::LoadedModel model(engine, arguments[1], {.tokenizer = "bytes"});
  const std::string text = "A text of one's own, from a file, a socket or anywhere else.";
  const auto evaluation = sluice::evaluate(model, {.text = sluice::read_chunks(model, text, {.length = 20})});
  std::cout << to_json(evaluation).dump(2) << '\n';
  return evaluation.chunks.size() == 3 ? 0 : 1;
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
