#include "tests/model/constructed_model.h"

#include <nlohmann/json.hpp>

#include "sluice/base/atomic_directory.h"
#include "sluice/base/atomic_file.h"
#include "sluice/model/checkpoint_writer.h"
#include "sluice/model/config_writer.h"
#include "sluice/model/decoder.h"

namespace sluice {

void write_constructed_model(const std::filesystem::path& out, const ModelConfig& config,
                             const ParameterValues& values_of) {
  const Decoder decoder(config);
  MemoryPool pool;
  const ParameterSource source{
      .values =
          [&](size_t i) {
            const NamedParameter& named = decoder.parameters()[i];
            return Tensor::from<float>(pool, named.shape, values_of(named));
          },
      .stored_type = [](size_t) { return StoredType::F32; },
  };
  AtomicDirectory directory(out);
  write_file_atomically(directory.path() / "config.json", config_json(config).dump(2) + "\n");
  write_model_tensors(directory.path(), checkpoint_tensors(decoder, pool, source));
  directory.commit();
}

}  // namespace sluice
