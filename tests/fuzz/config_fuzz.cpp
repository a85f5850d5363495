// libFuzzer target: any text as config.json is either bad input or a configuration whose sizes can be
// counted.
//   clang++ -fsanitize=fuzzer,address,undefined; seeds: configs/models
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sluice/base/error.h"
#include "sluice/base/json.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const sluice::ModelConfig config = sluice::read_model_config(sluice::Json::parse(text, "fuzz"));
    if (config.heads % config.kv_heads != 0 || config.rotary > config.head_dim) std::abort();
    if (sluice::count_parameters(config).total() <= 0 || sluice::count_flops(config).products <= 0)
      std::abort();
  } catch (const sluice::Error& error) {
    if (error.kind() != sluice::ErrorKind::BadInput) std::abort();
  }
  return 0;
}
