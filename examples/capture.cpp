// Looks at every gate of a model while it reads a text: capture MODEL TEXT
#include <sluice/sluice.h>

#include <iostream>
#include <numeric>

int main(int count, char** arguments) try {
  if (count != 3) throw sluice::usage_error({.what = "usage: capture MODEL TEXT"});
  sluice::Engine engine;
  const sluice::LoadedModel model(engine, arguments[1]);

  const sluice::NamedTensors tensors =
      capture(model, {.ids = model.encode(arguments[2]), .taps = {"attn.gate", "logits"}});
  for (const auto& [name, tensor] : tensors) {
    const std::span<const float> values = tensor.values<float>();
    const float mean = std::reduce(values.begin(), values.end()) / static_cast<float>(values.size());
    std::cout << name << ' ' << tensor.shape().text() << " mean " << mean << '\n';
  }
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
