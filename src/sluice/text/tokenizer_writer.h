// A trained tokenizer as a tokenizer.json that this project and the reference library load alike.
#pragma once

#include <string>
#include <vector>

#include "sluice/text/bpe_trainer.h"

namespace sluice {

// Special tokens get the ids behind those of the model. Bad input if one is spelt like a token of the model.
std::string tokenizer_json(const TrainedBpe& trained, WordPattern pattern,
                           const std::vector<std::string>& special);

// Tokenizer::bytes() as such a file, for models that are trained on bytes.
std::string byte_tokenizer_json();

}  // namespace sluice
