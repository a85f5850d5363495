// Continues a prompt from C: generate_c MODEL PROMPT
#include <sluice/capi/sluice_c.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** arguments) {
  sluice_model* model = NULL;
  sluice_tokens prompt = {0}, generated = {0};
  sluice_text text = {0};
  const sluice_generation_options options = {.max_tokens = 40, .temperature = 0.8, .seed = 1};
  if (count != 3) return SLUICE_USAGE;

  sluice_status status = sluice_load_model(arguments[1], NULL, &model);
  if (!status) status = sluice_tokenize(model, arguments[2], strlen(arguments[2]), &prompt);
  if (!status) status = sluice_generate(model, &prompt, &options, &generated);
  if (!status) status = sluice_decode(model, &generated, &text);
  if (status) fprintf(stderr, "%s\n", sluice_last_error());
  if (!status) printf("%s\n%zu tokens, sluice %s\n", text.bytes, generated.count, sluice_version());

  sluice_free_text(&text);
  sluice_free_tokens(&generated);
  sluice_free_tokens(&prompt);
  sluice_free_model(model);
  return status;
}
