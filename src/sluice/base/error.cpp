#include "sluice/base/error.h"

#include <utility>

namespace sluice {
namespace {

void append(std::string& line, const char* separator, const std::string& part) {
  if (part.empty()) return;
  if (!line.empty()) line += separator;
  line += part;
}

// Text from hostile files ends up here: keep it on one line and off the terminal's control codes.
std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return text;
}

std::string one_line(const ErrorReport& report) {
  std::string line;
  append(line, ": ", report.where);
  append(line, ": ", report.what);
  if (!report.expected.empty()) append(line, ": ", "expected " + report.expected);
  if (!report.got.empty()) append(line, report.expected.empty() ? ": " : ", ", "got " + report.got);
  if (!report.hint.empty()) append(line, " ", "(" + report.hint + ")");
  return printable(std::move(line));
}

}  // namespace

Error::Error(ErrorKind kind, ErrorReport report)
    : kind_(kind), report_(std::move(report)), line_(one_line(report_)) {}

Error Error::inside(const std::string& outer) const {
  ErrorReport report = report_;
  report.where = report.where.empty() ? outer : outer + ": " + report.where;
  return {kind_, std::move(report)};
}

Error usage_error(ErrorReport report) {
  return {ErrorKind::Usage, std::move(report)};
}

Error bad_input(ErrorReport report) {
  return {ErrorKind::BadInput, std::move(report)};
}

Error failure(ErrorReport report) {
  return {ErrorKind::Failed, std::move(report)};
}

}  // namespace sluice
