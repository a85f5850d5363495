// Loads a model directory and says what it is: load MODEL
#include <sluice/sluice.h>

#include <iostream>

int main(int count, char** arguments) try {
  if (count != 2) throw sluice::usage_error({.what = "usage: load MODEL"});
  // Threads, memory and kernels. One for a program is usual; it must outlive the models that use it.
  sluice::Engine engine;
  const sluice::LoadedModel model(engine, arguments[1], {.dtype = sluice::DType::BF16});

  const sluice::ModelConfig& config = model.config();
  std::cout << config.layers << " layers, " << config.vocabulary << " tokens\n"
            << to_text(count_model(config));
  for (const sluice::TokenId id : model.encode("A text")) std::cout << id << ' ';
  std::cout << "by sluice " << sluice::build_info().version << '\n';
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
