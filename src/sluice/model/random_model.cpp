#include "sluice/model/random_model.h"

#include <nlohmann/json.hpp>

#include "sluice/base/atomic_directory.h"
#include "sluice/base/atomic_file.h"
#include "sluice/model/checkpoint_writer.h"
#include "sluice/model/config_writer.h"
#include "sluice/model/count.h"
#include "sluice/model/decoder.h"

namespace sluice {

WrittenModel write_random_model(const RandomModel& model, const Threads& threads,
                                const std::filesystem::path& out, const JobControl& control) {
  const Decoder decoder(model.config);
  const Random random(model.seed);
  MemoryPool pool;
  const ParameterSource source{
      .values =
          [&](size_t i) {
            control.stop_if_cancelled();
            return initial_values(pool, threads, decoder.parameters()[i], random.child(i));
          },
      .stored_type =
          [&](size_t i) {
            return decoder.parameters()[i].role == ParameterRole::Matrix ? model.dtype : StoredType::F32;
          },
  };
  AtomicDirectory directory(out);
  write_file_atomically(directory.path() / "config.json", config_json(model.config).dump(2) + "\n");
  write_model_tensors(directory.path(), checkpoint_tensors(decoder, pool, source));
  directory.commit();
  return {.out = out, .parameters = count_parameters(model.config).total()};
}

}  // namespace sluice
