#include "sluice/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace sluice::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kTerminalInterval = std::chrono::milliseconds(200);
constexpr auto kPlainInterval = std::chrono::seconds(10);

std::string bar(double share) {
  const int full = static_cast<int>(share * kBarWidth);
  return std::string(static_cast<size_t>(full), '#') +
         std::string(static_cast<size_t>(kBarWidth - full), '.');
}

}  // namespace

Progress::Progress(Log& log, std::string unit, int64_t total)
    : log_(log),
      unit_(std::move(unit)),
      total_(total),
      terminal_(log.level() != LogLevel::Quiet && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_ && shown_ != start_) std::fputs("\r\033[K", stderr);
}

bool Progress::will_show() const {
  const Clock::duration interval = terminal_ ? Clock::duration(kTerminalInterval) : kPlainInterval;
  return log_.level() != LogLevel::Quiet && Clock::now() - shown_ >= interval;
}

void Progress::reach(int64_t done) {
  done_ = done;
  if (!will_show()) return;
  shown_ = Clock::now();
  show();
}

std::string Progress::text() const {
  const double seconds = std::chrono::duration<double>(shown_ - start_).count();
  const double rate = static_cast<double>(done_) / seconds;
  if (total_ == 0) return fmt::format("{} {}, {:.1f} per s", done_, unit_, rate);
  const double left = static_cast<double>(total_ - done_) / rate;
  return fmt::format("{}/{} {}, {:.1f} per s, {:.0f} s left{}{}", done_, total_, unit_, rate, left,
                     note_.empty() ? "" : ", ", note_);
}

void Progress::show() {
  if (terminal_) {
    const double share = total_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(total_);
    std::fputs(fmt::format("\r\033[K[{}] {}", bar(share), text()).c_str(), stderr);
    std::fflush(stderr);
  } else {
    log_.info("{}", text());
  }
}

}  // namespace sluice::cli
