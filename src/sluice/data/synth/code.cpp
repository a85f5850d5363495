// Programs: functions whose bodies use only what is in scope and call only what was defined above. The same
// tree is printed in a language with braces or in one with indentation.
#include <array>

#include "sluice/data/synth/kinds.h"
#include "sluice/data/synth/words.h"

namespace sluice::synth {
namespace {

constexpr std::string_view kVerbs[] = {"count", "sort", "pack", "weigh", "merge", "scale", "trim", "move"};
constexpr std::string_view kNouns[] = {"lamps",  "boxes",  "rows",  "tiles",
                                       "crates", "sheets", "wires", "bells"};
constexpr std::string_view kLocals[] = {"total", "best", "rest", "sum", "limit", "shift", "width", "depth"};
constexpr std::string_view kPurposes[] = {"keep the larger value", "leave early if there is nothing to do",
                                          "add up what is left", "never below zero", "one more round"};

enum class Language { Braces, Indentation };

// Prints lines and blocks; knows how the language spells them.
class Printer {
 public:
  explicit Printer(Language language) : language_(language) {}

  bool braces() const { return language_ == Language::Braces; }

  void line(const std::string& text) { indent(text + (braces() ? ";" : "")); }
  void comment(const std::string& text) { indent((braces() ? "// " : "# ") + text); }

  void open(const std::string& text) {
    indent(text + (braces() ? " {" : ":"));
    ++depth_;
  }

  void close() {
    --depth_;
    if (braces()) indent("}");
  }

  // The end of one block and the beginning of its alternative.
  void open_else() {
    --depth_;
    indent(braces() ? "} else {" : "else:");
    ++depth_;
  }

  void blank() { text_ += '\n'; }
  const std::string& text() const { return text_; }

 private:
  void indent(const std::string& line) {
    const size_t step = braces() ? 2 : 4;
    text_ += std::string(depth_ * step, ' ') + line + '\n';
  }

  Language language_;
  size_t depth_ = 0;
  std::string text_;
};

struct Function {
  std::string name;
  size_t parameters;
};

class Program {
 public:
  explicit Program(Dice& dice)
      : dice_(dice), out_(dice.chance(0.5) ? Language::Braces : Language::Indentation) {}

  std::string write() {
    const size_t enough = static_cast<size_t>(dice_.between(300, 700));
    while (out_.text().size() < enough) {
      function();
      out_.blank();
    }
    main();
    return out_.text();
  }

 private:
  void function() {
    parameters_.clear();
    locals_.clear();
    for (const size_t i : dice_.distinct(static_cast<size_t>(dice_.between(1, 3)), std::size(kNouns)))
      parameters_.emplace_back(kNouns[i]);
    const Function self{unused_name(), parameters_.size()};
    out_.open(head(self.name));
    declare_locals(static_cast<size_t>(dice_.between(1, 2)));
    const int statements = dice_.between(1, 2);
    for (int i = 0; i < statements; ++i) statement(2);
    out_.line("return " + (dice_.chance(0.5) ? locals_[0] : binary(locals_[0])));
    out_.close();
    functions_.push_back(self);
  }

  std::string unused_name() {
    std::string name(dice_.pick(kVerbs));
    name += '_' + dice_.pick(parameters_);
    for (const Function& each : functions_)
      if (each.name == name) name += '_' + std::to_string(functions_.size() + 1);
    return name;
  }

  std::string head(const std::string& name) const {
    std::string list;
    for (const std::string& each : parameters_)
      list += (list.empty() ? "" : ", ") + std::string(out_.braces() ? "int " : "") + each;
    return (out_.braces() ? "int " : "def ") + name + '(' + list + ')';
  }

  void declare_locals(size_t count) {
    for (const size_t i : dice_.distinct(count, std::size(kLocals))) {
      const std::string name(kLocals[i]);
      out_.line((out_.braces() ? "int " : "") + name + " = " + expression());
      locals_.push_back(name);
    }
  }

  // `depth` is how many blocks may still be opened.
  void statement(size_t depth) {
    if (dice_.chance(0.15)) out_.comment(std::string(dice_.pick(kPurposes)));
    switch (depth == 0 ? 2 : dice_.below(4)) {
      case 0:
        return loop(depth);
      case 1:
        return branch(depth);
      default:
        return assign(expression());
    }
  }

  // Only locals are assigned, and loops end at parameters: every program would halt.
  void assign(const std::string& value) {
    const std::string& name = dice_.pick(locals_);
    out_.line(name + " = " + name + (dice_.chance(0.5) ? " + " : " - ") + value);
  }

  void loop(size_t depth) {
    const std::string counter = depth == 2 ? "i" : "j";
    const std::string& end = dice_.pick(parameters_);
    out_.open(out_.braces()
                  ? "for (int " + counter + " = 0; " + counter + " < " + end + "; " + counter + "++)"
                  : "for " + counter + " in range(" + end + ")");
    assign('(' + counter + " * " + std::to_string(dice_.between(2, 9)) + ')');
    if (dice_.chance(0.6)) statement(depth - 1);
    out_.close();
  }

  void branch(size_t depth) {
    std::string condition = dice_.pick(locals_);
    condition += dice_.chance(0.5) ? " > " : " < ";
    condition += expression();
    out_.open(out_.braces() ? "if (" + condition + ")" : "if " + condition);
    statement(depth - 1);
    if (dice_.chance(0.5)) {
      out_.open_else();
      statement(depth - 1);
    }
    out_.close();
  }

  // A variable or a number.
  std::string atom() {
    const size_t known = parameters_.size() + locals_.size();
    if (known == 0 || dice_.chance(0.4)) return std::to_string(dice_.between(1, 20));
    const size_t i = dice_.below(known);
    return i < parameters_.size() ? parameters_[i] : locals_[i - parameters_.size()];
  }

  std::string binary(const std::string& left) {
    static constexpr std::array<std::string_view, 3> kOperators = {" + ", " - ", " * "};
    const std::string sign(dice_.pick(kOperators));
    std::string right = atom();
    if (right == left) right = std::to_string(dice_.between(2, 9));
    return left + sign + right;
  }

  std::string expression() {
    switch (dice_.below(4)) {
      case 0:
        return atom();
      case 1:
        return '(' + binary(atom()) + ')';
      case 2:
        return functions_.empty() ? binary(atom()) : call(dice_.pick(functions_));
      default:
        return binary('(' + binary(atom()) + ')');
    }
  }

  std::string call(const Function& function) {
    std::string list;
    for (size_t i = 0; i < function.parameters; ++i) list += (i == 0 ? "" : ", ") + atom();
    return function.name + '(' + list + ')';
  }

  void main() {
    parameters_.clear();
    locals_.clear();
    out_.open(out_.braces() ? "int main()" : "def main()");
    declare_locals(1);
    for (const Function& each : functions_) out_.line("print(\"" + each.name + "\", " + call(each) + ')');
    if (out_.braces()) out_.line("return 0");
    out_.close();
  }

  Dice& dice_;
  Printer out_;
  std::vector<Function> functions_;
  std::vector<std::string> parameters_, locals_;  // of the function that is being written
};

}  // namespace

std::string code(Dice& dice) {
  return Program(dice).write();
}

}  // namespace sluice::synth
