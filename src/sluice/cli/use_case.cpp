#include "sluice/cli/use_case.h"

#include "sluice/base/interrupt.h"
#include "sluice/base/json_text.h"
#include "sluice/cli/progress.h"

namespace sluice::cli {
namespace {

// A bar for each unit that the job counts, one after the other.
class ShownProgress {
 public:
  explicit ShownProgress(Log& log) : log_(log) {}

  void show(const ProgressUpdate& update) {
    if (!bar_ || unit_ != update.unit) {
      unit_ = update.unit;
      bar_.emplace(log_, unit_, update.total);
    }
    bar_->reach(update.done);
    // A terminal's line is wiped before results are printed.
    if (update.done == update.total) bar_.reset();
  }

 private:
  Log& log_;
  std::optional<Progress> bar_;
  std::string unit_;
};

}  // namespace

JobControl job_control(const Session& session) {
  auto shown = std::make_shared<ShownProgress>(session.log);
  return {.progress = [shown](const ProgressUpdate& update) { shown->show(update); },
          .cancelled = is_interrupted,
          .log = &session.log};
}

void print_json(const Session& session, const nlohmann::ordered_json& json) {
  session.out << pretty_text(json) << std::flush;
}

}  // namespace sluice::cli
