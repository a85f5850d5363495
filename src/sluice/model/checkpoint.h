// A model directory, opened and compared with its configuration. Values are read when asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/model/stored_part.h"

namespace sluice {

// Weights that are NaN or infinite: whatever is computed with them is meaningless. Allowed to people who
// study that.
enum class NonFinite { Refused, Allowed };

class Checkpoint {
 public:
  // A model directory or a run's, of which load_model_config() tells the control. Tensors that are missing or
  // unexpected are bad input that lists them.
  explicit Checkpoint(const std::filesystem::path& path, NonFinite nonfinite = NonFinite::Refused,
                      const JobControl& control = {});

  const ModelConfig& config() const { return decoder_->config(); }
  const TensorStore& store() const { return *store_; }

  // The decoder that the configuration describes. Its parameters have values only after load().
  const Decoder& decoder() const { return *decoder_; }

  // A parameter's values, F32 or BF16. Not copied where the file has them in that type: then they stay in the
  // mapping, which the tensor keeps alive. Bad input with the place of the first that is not finite, unless
  // that is allowed.
  Tensor read(MemoryPool& pool, size_t parameter, DType dtype) const;

  StoredType stored_type(size_t parameter) const { return store_->info(parts_[parameter].tensor).dtype; }

  // Matrices are kept in `dtype`, norms, biases and routers in F32: a router is small, and rounding would
  // send tokens elsewhere. With I8 they are quantised, but for an embedding's table: its rows stay as the
  // file has them, also where the output layer is a quantised copy of it.
  std::unique_ptr<Decoder> load(Engine& engine, DType dtype) &&;

 private:
  void check_finite(const std::string& tensor) const;
  Int8Matrix read_int8(Engine& engine, size_t parameter) const;
  void load_matrix(Engine& engine, size_t parameter, DType dtype);

  std::unique_ptr<Decoder> decoder_;
  std::shared_ptr<const TensorStore> store_;
  std::vector<StoredPart> parts_;  // of decoder_'s parameters
  NonFinite nonfinite_;
  Threads threads_{1};  // that look for values that are not finite
};

inline std::unique_ptr<Decoder> load_model(Engine& engine, const std::filesystem::path& directory,
                                           DType dtype) {
  return Checkpoint(directory).load(engine, dtype);
}

}  // namespace sluice
