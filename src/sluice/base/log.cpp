#include "sluice/base/log.h"

#include <iostream>

namespace sluice {

Log::Log(LogLevel level) : Log(level, std::cerr) {}

void Log::print(std::string_view prefix, std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  // A line per message also when it quotes a file: no line breaks, and no terminal control codes.
  for (char& c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  const std::string line = fmt::format("sluice: {}{}\n", prefix, message);
  const std::lock_guard lock(mutex_);
  out_ << line << std::flush;
}

}  // namespace sluice
