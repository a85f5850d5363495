#include "sluice/model/model_directory.h"

#include "sluice/base/error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

// As train/run_directory.h writes it. What cannot be looked at is no run: opening it says why.
bool is_run(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path / "checkpoints", unknown) && fs::exists(path / "metrics.jsonl", unknown);
}

bool has_model(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path / "config.json", unknown);
}

// Of a link to checkpoints/step-N, "step-N".
std::string checkpoint_name(const fs::path& link) {
  std::error_code unknown;
  const fs::path target = fs::read_symlink(link, unknown);
  return unknown ? link.string() : target.filename().string();
}

}  // namespace

fs::path model_directory(const fs::path& path, const JobControl& control) {
  if (!is_run(path)) return path;
  for (const char* link : {"best", "latest"}) {
    const fs::path checkpoint = path / link;
    if (!has_model(checkpoint)) continue;
    control.info("{}: a run; its {} checkpoint is used, {}", path.string(), link,
                 checkpoint_name(checkpoint));
    return checkpoint;
  }
  throw bad_input({.where = path.string(),
                   .what = "a run without a checkpoint",
                   .hint = "it has not saved any yet, or was stopped before"});
}

fs::path run_directory_of(const fs::path& path) {
  if (is_run(path)) return path;
  std::error_code unknown;
  const fs::path run = fs::canonical(path, unknown).parent_path().parent_path();
  return !unknown && is_run(run) ? run : fs::path();
}

}  // namespace sluice
