// Continues a prompt and shows the text as it comes: generate MODEL PROMPT
#include <sluice/sluice.h>

#include <iostream>

int main(int count, char** arguments) try {
  if (count != 3) throw sluice::usage_error({.what = "usage: generate MODEL PROMPT"});
  sluice::Engine engine;
  const sluice::LoadedModel model(engine, arguments[1]);

  const sluice::TextGenerationRequest request{
      .prompt = model.encode(arguments[2]),
      .options = {.sampler = {.temperature = 0.8, .top_p = 0.95, .seed = 1}, .max_tokens = 40},
      .arrived = [](std::optional<sluice::TokenId>, std::string_view text) {
        std::cout << text << std::flush;
      }};
  const sluice::GeneratedText generated = generate_text(model, request);
  std::cout << '\n' << generated.ids.size() << " tokens at " << generated.decode_rate() << " per s\n";
  return generated.ids.empty() ? 1 : 0;
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
