// Errors that reach a person: one kind per exit code, one line of text.
// Programmer errors are not here: they are assertions (base/assert.h).
#pragma once

#include <exception>
#include <string>

namespace sluice {

// The value is the exit code of the program.
enum class ErrorKind { Failed = 1, Usage = 2, BadInput = 3, Interrupted = 130 };

// What a person needs to mend the problem. Empty parts are left out of the line.
struct ErrorReport {
  std::string where = {};     // file, JSON path or option: "config.json: model.layers"
  std::string what = {};      // what went wrong: "cannot open", "unknown key"
  std::string expected = {};  // "integer >= 1"
  std::string got = {};       // "\"x\""
  std::string hint = {};      // what to do about it
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, ErrorReport report);

  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }
  const ErrorReport& report() const { return report_; }

  // "where: what: expected E, got G (hint)", always one line.
  const char* what() const noexcept override { return line_.c_str(); }

  // The same error, told to be inside something larger: "outer: where: what ...".
  Error inside(const std::string& outer) const;

 private:
  ErrorKind kind_;
  ErrorReport report_;
  std::string line_;
};

Error usage_error(ErrorReport report);
Error bad_input(ErrorReport report);
Error failure(ErrorReport report);

}  // namespace sluice
