#include "sluice/cli/use_case.h"

#include "sluice/base/interrupt.h"
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
      done_ = 0;
      bar_.emplace(log_, unit_, update.total);
    }
    bar_->done(update.done - done_);
    done_ = update.done;
  }

 private:
  Log& log_;
  std::optional<Progress> bar_;
  std::string unit_;
  int64_t done_ = 0;
};

}  // namespace

JobControl job_control(const Session& session) {
  auto shown = std::make_shared<ShownProgress>(session.log);
  return {.progress = [shown](const ProgressUpdate& update) { shown->show(update); },
          .cancelled = is_interrupted,
          .log = &session.log};
}

void print_json(const Session& session, const nlohmann::ordered_json& json) {
  // Names of files need not be UTF-8, JSON has to be.
  session.out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace sluice::cli
