#include "ptx/ptx_module.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/text.hpp"
#include "ptx/ptx_words.hpp"

namespace reprise::detail {

namespace {

// Whether PTX outside strings may contain the character. Lines that start with # name the origin of
// the text; nvcc writes none.
bool is_ptx_character(char c) {
  return is_ptx_space(c) || (c > ' ' && c <= '~' && c != '#' && c != '\\' && c != '`');
}

// Overwrites comments with spaces. Returns why the text cannot be read; empty: it can.
std::string erase_ptx_comments(std::string& text) {
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at], next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted) {
      if (c == '\n') return "contains a string of several lines";
    } else if (c == '/' && (next == '/' || next == '*')) {
      const bool is_line = next == '/';
      std::size_t end = is_line ? text.find('\n', at) : text.find("*/", at + 2);
      end = end == std::string::npos ? text.size() : end + (is_line ? 0 : 2);
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
      at = end - 1;
    } else if (!is_ptx_character(c)) {
      return concat("contains the character ", static_cast<int>(static_cast<unsigned char>(c)));
    }
  }
  return is_quoted ? "contains a string without an end" : "";
}

// Reads from the start of a text.
class PtxScanner {
 public:
  explicit PtxScanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view rest() const { return text_; }
  void skip(std::size_t count) { text_.remove_prefix(std::min(count, text_.size())); }
  void skip_spaces() {
    while (!text_.empty() && is_ptx_space(text_.front())) text_.remove_prefix(1);
  }
  [[nodiscard]] bool at_end() {
    skip_spaces();
    return text_.empty();
  }
  [[nodiscard]] bool at(char c) {
    skip_spaces();
    return text_.starts_with(c);
  }
  // Whether a directive or a name is next.
  [[nodiscard]] bool at_word(std::string_view word) {
    skip_spaces();
    return text_.starts_with(word) &&
           (text_.size() == word.size() || !is_ptx_word(text_[word.size()]));
  }
  std::string_view take(std::size_t count) {
    count = std::min(count, text_.size());
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count);
    return taken;
  }
  std::string_view take_word() {
    skip_spaces();
    return take(first_ptx_word(text_).size());
  }
  // .name: with the dot.
  std::string_view take_directive() {
    skip_spaces();
    return take(1 + first_ptx_word(text_.substr(std::min<std::size_t>(1, text_.size()))).size());
  }
  // A literal. Whether there was one.
  bool take_number() { return parse_ptx_number(take_word()).has_value(); }
  // Whether `c` was next; skips it.
  bool take_if(char c) {
    if (!at(c)) return false;
    skip(1);
    return true;
  }
  // Whether a string was next; skips it.
  bool take_string() {
    if (!take_if('"')) return false;
    const std::size_t end = text_.find('"');
    if (end != text_.npos) skip(end + 1);
    return end != text_.npos;
  }
  // Takes the text between `open`, which must be next, and its counterpart. Empty: `open` is not
  // next, or has no counterpart.
  std::optional<std::string_view> take_enclosed(char open, char close) {
    if (!at(open)) return std::nullopt;
    std::size_t depth = 0;
    bool is_quoted = false;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '"') is_quoted = !is_quoted;
      if (is_quoted) continue;
      if (text_[i] == open) ++depth;
      if (text_[i] != close || --depth != 0) continue;
      const std::string_view inside = text_.substr(1, i - 1);
      skip(i + 1);
      return inside;
    }
    return std::nullopt;
  }
  // Up to the next `stop` outside quotes and braces, which it skips.
  std::optional<std::string_view> take_until(char stop) {
    std::size_t depth = 0;
    bool is_quoted = false;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '"') is_quoted = !is_quoted;
      if (is_quoted) continue;
      if (text_[i] == stop && depth == 0) {
        const std::string_view before = trim_ptx(text_.substr(0, i));
        skip(i + 1);
        return before;
      }
      if (text_[i] == '{') ++depth;
      if (text_[i] == '}' && depth > 0) --depth;
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
};

// Empty: the text is no list of operands.
std::optional<std::vector<std::string_view>> split_ptx_operands(std::string_view text) {
  std::vector<std::string_view> operands;
  if ((text = trim_ptx(text)).empty()) return operands;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      operands.push_back(trim_ptx(text.substr(start, i - start)));
      if (operands.back().empty()) return std::nullopt;
      start = i + 1;
      continue;
    }
    if (text[i] == '"') return std::nullopt;
    if (text[i] == '[' || text[i] == '{' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == '}' || text[i] == ')') --depth;
    if (depth < 0) return std::nullopt;
  }
  if (depth != 0) return std::nullopt;
  return operands;
}

std::optional<PtxStatement> parse_ptx_instruction(std::string_view text) {
  PtxStatement statement{.kind = PtxStatement::Kind::Instruction, .text = text};
  PtxScanner scanner(text);
  if (scanner.at('@')) {
    scanner.skip(1);
    if (scanner.at('!')) scanner.skip(1);
    if (scanner.take_word().empty()) return std::nullopt;
    statement.guard = trim_ptx(text.substr(0, text.size() - scanner.rest().size()));
  }
  scanner.skip_spaces();
  const std::string_view rest = scanner.rest();
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != '%' && rest[end] != '$' &&
         (is_ptx_word(rest[end]) || rest[end] == '.' || rest[end] == ':'))
    ++end;
  if (end == 0 || rest[0] < 'a' || rest[0] > 'z') return std::nullopt;
  statement.opcode = rest.substr(0, end);
  std::optional<std::vector<std::string_view>> operands = split_ptx_operands(rest.substr(end));
  if (!operands) return std::nullopt;
  statement.operands = std::move(*operands);
  return statement;
}

// Skips .loc 1 2 3, function_name label+4, inlined_at 1 2 3, which has no end of its own: an
// instruction can follow in the same line. Returns whether it had this form.
bool skip_ptx_location(PtxScanner& scanner) {
  const auto take_three = [&] {
    return scanner.take_number() && scanner.take_number() && scanner.take_number();
  };
  scanner.take_directive();
  if (!take_three()) return false;
  while (scanner.take_if(',')) {
    const std::string_view attribute = scanner.take_word();
    if (attribute == "inlined_at") {
      if (!take_three()) return false;
    } else if (attribute != "function_name" || scanner.take_word().empty() ||
               (scanner.take_if('+') && !scanner.take_number())) {
      return false;
    }
  }
  return true;
}

// Skips .file 1 "name", 2, 3. Returns whether it had this form.
bool skip_ptx_file(PtxScanner& scanner) {
  scanner.take_directive();
  if (!scanner.take_number() || !scanner.take_string()) return false;
  while (scanner.take_if(','))
    if (!scanner.take_number()) return false;
  return true;
}

void parse_ptx_body(std::string_view body, PtxFunction& function) {
  PtxScanner scanner(body);
  int depth = 0;
  while (!scanner.at_end()) {
    const std::string_view rest = scanner.rest();
    if (rest.front() == '{' || rest.front() == '}') {
      const bool is_open = rest.front() == '{';
      depth += is_open ? 1 : -1;
      if (depth < 0) function.problem = "unmatched brace";
      function.statements.push_back(
          {.kind = is_open ? PtxStatement::Kind::Open : PtxStatement::Kind::Close,
           .text = scanner.take(1)});
      continue;
    }
    if (scanner.at_word(".loc")) {
      if (skip_ptx_location(scanner)) continue;
      function.problem = concat("unreadable location: ", trim_ptx(rest.substr(0, 80)));
      return;
    }
    const std::string_view word = first_ptx_word(rest);
    PtxScanner after(rest.substr(word.size()));
    if (!word.empty() && after.at(':') && !after.rest().starts_with("::")) {
      function.statements.push_back({.kind = PtxStatement::Kind::Label, .text = word});
      scanner = after;
      scanner.skip(1);
      continue;
    }
    const std::optional<std::string_view> text = scanner.take_until(';');
    if (!text) {
      function.problem = concat("unreadable statement: ", trim_ptx(rest.substr(0, 80)));
      return;
    }
    if (text->starts_with('.')) {
      function.statements.push_back({.kind = PtxStatement::Kind::Directive, .text = *text});
    } else if (std::optional<PtxStatement> instruction = parse_ptx_instruction(*text)) {
      function.statements.push_back(std::move(*instruction));
    } else {
      function.problem = concat("unreadable statement: ", text->substr(0, 80));
      return;
    }
  }
  if (depth != 0) function.problem = "unmatched brace";
}

// Whether a text between the parameters and the body, or the semicolon, of a function consists of
// directives such as .maxntid 128, 1, 1. A declaration need not have a semicolon: another function
// may follow.
bool is_ptx_head_end(std::string_view text) {
  constexpr std::array<std::string_view, 12> kDirectives = {
      ".noreturn",          ".maxntid",        ".reqntid",         ".minnctapersm",
      ".maxnctapersm",      ".maxnreg",        ".explicitcluster", ".reqnctapercluster",
      ".blocksareclusters", ".maxclusterrank", ".abi_preserve",    ".abi_preserve_control"};
  PtxScanner scanner(text);
  while (!scanner.at_end()) {
    const std::string_view directive = scanner.take_directive();
    if (std::find(kDirectives.begin(), kDirectives.end(), directive) == kDirectives.end())
      return false;
    if (scanner.at('.') || scanner.at_end()) continue;
    do
      if (!scanner.take_number()) return false;
    while (scanner.take_if(','));
  }
  return true;
}

// Reads a function after .entry or .func up to its body or the semicolon of a declaration.
PtxFunction parse_ptx_head(std::string_view head, bool is_entry) {
  PtxFunction function;
  function.is_entry = is_entry;
  PtxScanner scanner(head);
  const auto skip_directives = [&] {
    while (scanner.at('.')) {
      scanner.take_directive();
      scanner.take_enclosed('(', ')');
    }
  };
  if (scanner.at_word(".attribute")) skip_directives();
  if (!is_entry) function.results = scanner.take_enclosed('(', ')').value_or("");
  skip_directives();
  function.name = scanner.take_word();
  function.parameters = scanner.take_enclosed('(', ')').value_or("");
  function.directives = trim_ptx(scanner.rest());
  if (function.name.empty()) function.problem = "function without a name";
  if (!is_entry) return function;
  const auto parameters = split_ptx_operands(function.parameters);
  if (!parameters) function.problem = "unreadable parameters";
  for (const std::string_view parameter : parameters.value_or(std::vector<std::string_view>())) {
    const std::optional<PtxVariable> variable = parse_ptx_variable(parameter);
    if (variable && variable->bytes != 0) {
      function.entry_parameters.push_back(*variable);
    } else {
      function.problem = concat("unreadable parameter: ", parameter);
    }
  }
  return function;
}

}  // namespace

std::optional<PtxVariable> parse_ptx_variable(std::string_view declaration) {
  PtxVariable variable;
  PtxScanner scanner(declaration.substr(0, declaration.find('=')));
  std::uint64_t element = 0, vector = 1;
  bool is_pointer = false;
  while (scanner.at('.')) {
    const std::string_view word = scanner.take_directive();
    using Space = PtxVariable::Space;
    if (word == ".align") {
      const std::optional<std::uint64_t> alignment = parse_ptx_number(scanner.take_word());
      if (!alignment || !std::has_single_bit(*alignment) || *alignment > 1u << 20)
        return std::nullopt;
      // After .ptr it is that of what the parameter refers to.
      if (!is_pointer) variable.alignment = static_cast<std::uint32_t>(*alignment);
    } else if (word == ".attribute") {
      scanner.take_enclosed('(', ')');
    } else if (word == ".extern") {
      variable.is_extern = true;
    } else if (word == ".ptr") {
      is_pointer = true;
    } else if (is_pointer) {  // the state space that the parameter refers to
    } else if (word == ".global") {
      variable.space = Space::Global;
    } else if (word == ".const") {
      variable.space = Space::Const;
    } else if (word == ".shared") {
      variable.space = Space::Shared;
    } else if (word == ".local") {
      variable.space = Space::Local;
    } else if (word == ".param") {
      variable.space = Space::Param;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      vector = static_cast<std::uint64_t>(word[2] - '0');
    } else if (word.size() > 2 && std::string_view("busf").find(word[1]) != word.npos) {
      constexpr std::array<std::string_view, 5> kBits = {"8", "16", "32", "64", "128"};
      const auto bits = std::find(kBits.begin(), kBits.end(), word.substr(2));
      if (bits != kBits.end()) element = std::uint64_t{1} << (bits - kBits.begin());
    }
  }
  if (variable.space == PtxVariable::Space::Other || element == 0) return std::nullopt;
  variable.alignment = std::max(variable.alignment, static_cast<std::uint32_t>(element * vector));
  variable.name = scanner.take_word();
  if (variable.name.empty() || is_ptx_digit(variable.name.front())) return std::nullopt;
  variable.bytes = element * vector;
  while (const std::optional<std::string_view> extent = scanner.take_enclosed('[', ']')) {
    const std::string_view text = trim_ptx(*extent);
    const std::optional<std::uint64_t> count =
        text.empty() ? std::optional<std::uint64_t>(0) : parse_ptx_number(text);
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;
    if (!count || *count > kMaxBytes / std::max<std::uint64_t>(1, variable.bytes))
      return std::nullopt;
    variable.bytes *= *count;
  }
  if (!scanner.at_end()) return std::nullopt;
  return variable;
}

PtxModule::PtxModule(std::string text) : text_(std::move(text)) {
  if (const std::size_t end = text_.find('\0'); end != std::string::npos) text_.resize(end);
  problem_ = erase_ptx_comments(text_);
  if (problem_.empty()) parse();
}

void PtxModule::fail(std::string_view rest) {
  problem_ = concat("unreadable text: ", trim_ptx(rest.substr(0, 80)));
}

void PtxModule::parse() {
  PtxScanner scanner(text_);
  while (!scanner.at_end()) {
    const std::string_view rest = scanner.rest();
    const auto taken = [&] { return rest.substr(0, rest.size() - scanner.rest().size()); };
    if (scanner.at_word(".version")) {
      scanner.take_directive();
      scanner.take_number();
      if (scanner.take_if('.')) scanner.take_word();
      version_ = taken();
    } else if (scanner.at_word(".target")) {
      scanner.take_directive();
      do scanner.take_word();
      while (scanner.take_if(','));
      target_ = trim_ptx(taken());
    } else if (scanner.at_word(".address_size")) {
      scanner.take_directive();
      has_64_bit_addresses_ = scanner.take_word() == "64";
    } else if (scanner.at_word(".file")) {
      if (!skip_ptx_file(scanner)) return fail(rest);
    } else if (scanner.at_word(".section")) {
      scanner.skip(rest.find('{'));
      if (!scanner.take_enclosed('{', '}')) return fail(rest);
    } else {
      // A function, a variable or something else that ends with a semicolon.
      PtxScanner head = scanner;
      bool is_function = false, is_entry = false;
      while (head.at('.') && !is_function) {
        const std::string_view directive = head.take_directive();
        is_entry = directive == ".entry";
        is_function = is_entry || directive == ".func";
        if (directive == ".attribute") head.take_enclosed('(', ')');
      }
      if (!is_function) {
        const std::optional<std::string_view> statement = scanner.take_until(';');
        if (!statement) return fail(rest);
        if (const auto variable = parse_ptx_variable(*statement)) variables_.push_back(*variable);
        continue;
      }
      const std::string_view text = head.rest();
      const std::size_t end = text.find_first_of(";{\"");
      if (end == text.npos || text[end] == '"') return fail(rest);
      PtxFunction function = parse_ptx_head(text.substr(0, end), is_entry);
      if (!is_ptx_head_end(function.directives)) return fail(rest);
      head.skip(end);
      if (!head.take_if(';')) {
        function.has_body = true;
        const std::optional<std::string_view> body = head.take_enclosed('{', '}');
        if (!body) return fail(rest);
        parse_ptx_body(*body, function);
      }
      functions_.push_back(std::move(function));
      scanner = head;
    }
  }
}

const PtxFunction* PtxModule::find_entry(std::string_view name) const noexcept {
  for (const PtxFunction& function : functions_)
    if (function.is_entry && function.has_body && function.name == name) return &function;
  return nullptr;
}

const PtxFunction* PtxModule::find_function(std::string_view name) const noexcept {
  const PtxFunction* found = nullptr;
  for (const PtxFunction& function : functions_)
    if (!function.is_entry && function.name == name && (found == nullptr || function.has_body))
      found = &function;
  return found;
}

}  // namespace reprise::detail
