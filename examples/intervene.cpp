// What the gates are worth: a text's perplexity as it is, and with all of them open. intervene MODEL
#include <sluice/sluice.h>

#include <iostream>

int main(int count, char** arguments) try {
  if (count != 2) throw sluice::usage_error({.what = "usage: intervene MODEL"});
  sluice::Engine engine;
  const sluice::LoadedModel model(engine, arguments[1]);
  const sluice::ChunkedText text = read_chunks(model, sluice::synth_document({.seed = 9}), {.length = 64});

  // As --intervene takes it; sluice::Probe is for changes that have no word yet.
  const auto open = sluice::parse_interventions(std::vector<std::string>{"attn.gate set=1"}, model.config());
  const sluice::Evaluation as_it_is = evaluate(model, {.text = text});
  const sluice::Evaluation opened = evaluate(model, {.text = text, .interventions = open});
  const auto difference = perplexity_difference(opened.chunks, as_it_is.chunks);
  std::cout << "perplexity " << as_it_is.perplexity.ppl << ", with open gates " << opened.perplexity.ppl
            << '\n';
  if (difference.ci95)  // none for a single chunk
    std::cout << "95 % interval of the difference: " << difference.ci95->low << " to "
              << difference.ci95->high << '\n';
  return opened.perplexity.ppl == as_it_is.perplexity.ppl ? 1 : 0;
} catch (const sluice::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
