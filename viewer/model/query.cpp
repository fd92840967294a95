#include "model/query.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>
#include <regex>
#include <span>
#include <string_view>
#include <utility>

namespace reprise::model {

namespace {

enum class Unit : std::uint8_t { Count, Time, Share, Bytes };

struct FieldName {
  const char* name;
  TextField field;
};
constexpr FieldName kFields[] = {{"name", TextField::Name},   {"kernel", TextField::Kernel},
                                 {"label", TextField::Label}, {"buffer", TextField::Buffer},
                                 {"file", TextField::Source}, {"kind", TextField::Kind}};
struct FigureName {
  const char* name;
  Figure figure;
  Unit unit;
};
constexpr FigureName kFigures[] = {
    {"node", Figure::Node, Unit::Count},       {"lane", Figure::Lane, Unit::Count},
    {"segment", Figure::Segment, Unit::Count}, {"bytes", Figure::Bytes, Unit::Bytes},
    {"median", Figure::Median, Unit::Time},    {"p99", Figure::P99, Unit::Time},
    {"mean", Figure::Mean, Unit::Time},        {"min", Figure::Min, Unit::Time},
    {"max", Figure::Max, Unit::Time},          {"share", Figure::Share, Unit::Share},
    {"slack", Figure::Slack, Unit::Time},      {"samples", Figure::Samples, Unit::Count}};

struct Suffix {
  const char* text;
  double factor;
};
constexpr Suffix kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Suffix kBytes[] = {
    {"", 1},           {"b", 1},           {"k", 1024},        {"kb", 1024},
    {"kib", 1024},     {"m", 1048576},     {"mb", 1048576},    {"mib", 1048576},
    {"g", 1073741824}, {"gb", 1073741824}, {"gib", 1073741824}};
constexpr Suffix kShares[] = {{"", 0.01}, {"%", 0.01}};
constexpr Suffix kCounts[] = {{"", 1}};

// Characters of a text in which an expression is searched.
constexpr std::ptrdiff_t kMaxSearched = 4'000;

constexpr std::array<const char*, 5> kComparisons = {">=", "<=", ">", "<", "="};

// ASCII letters only.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string lower(std::string text) {
  for (char& c : text) c = lower(c);
  return text;
}
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::span<const Suffix> suffixes_of(Unit unit) {
  switch (unit) {
    case Unit::Count: return kCounts;
    case Unit::Time: return kTimes;
    case Unit::Share: return kShares;
    case Unit::Bytes: return kBytes;
  }
  return {};
}

const char* example_of(Unit unit) {
  switch (unit) {
    case Unit::Count: return "a number such as 12";
    case Unit::Time: return "a duration such as 10us";
    case Unit::Share: return "a share such as 5%";
    case Unit::Bytes: return "an amount such as 4KiB";
  }
  return "";
}

std::optional<double> value_of(Unit unit, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string suffix = lower(std::string(end, text.data() + text.size()));
  for (const Suffix& each : suffixes_of(unit)) {
    if (suffix == each.text) return number * each.factor;
  }
  if (suffix.empty() && number == 0) return 0;
  return std::nullopt;
}

std::optional<std::uint32_t> whole_number(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "step.cpp:12": line 12, but not 120.
bool ends_in_line(const std::string& text) {
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  return digits < text.size() && digits > 1 && text[digits - 1] == ':';
}

std::function<bool(const std::string&)> contains(const std::string& text, bool whole_line) {
  return [wanted = lower(text), whole_line](const std::string& in) {
    const std::string given = lower(in);
    return whole_line ? given.ends_with(wanted) : given.find(wanted) != std::string::npos;
  };
}

struct BadQuery {
  std::string text;
};

std::function<bool(const std::string&)> expression(const std::string& pattern) {
  auto flags = std::regex::ECMAScript | std::regex::icase | std::regex::nosubs;
#ifdef __GLIBCXX__
  // Quadratic time for any pattern, and no recursion by the length of the text.
  flags |= std::regex_constants::__polynomial;
#endif
  try {
    return [regex = std::make_shared<const std::regex>(pattern, flags)](const std::string& in) {
      return std::regex_search(in.begin(), in.begin() + std::min(std::ssize(in), kMaxSearched),
                               *regex);
    };
  } catch (const std::regex_error& error) {
    throw BadQuery{"/" + pattern + "/ is no regular expression: " + error.what()};
  }
}

std::function<bool(double)> comparison(std::string_view by, double value) {
  if (by == ">") return [value](double x) { return x > value; };
  if (by == ">=") return [value](double x) { return x >= value; };
  if (by == "<") return [value](double x) { return x < value; };
  if (by == "<=") return [value](double x) { return x <= value; };
  return [value](double x) { return x == value; };
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::vector<Query::Term> terms() {
    std::vector<Query::Term> all;
    while (skip_blanks()) all.push_back(term());
    return all;
  }

 private:
  struct Text {
    std::string text;
    enum class Form : std::uint8_t { Word, Quoted, Expression } form = Form::Word;
  };

  [[nodiscard]] bool skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size();
  }
  [[nodiscard]] bool ends_at(std::size_t at) const {
    return at >= text_.size() || is_blank(text_[at]);
  }
  [[nodiscard]] std::string word_at(std::size_t at) const {
    std::size_t end = at;
    while (!ends_at(end)) ++end;
    return text_.substr(at, end - at);
  }

  Query::Term term() {
    Query::Term term;
    if (text_[at_] == '-' && !ends_at(at_ + 1)) {
      term.is_negated = true;
      ++at_;
    }
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || (end > at_ && is_digit(text_[end]))))
      ++end;
    const std::string key = lower(text_.substr(at_, end - at_)), rest = word_at(end);
    if (!key.empty() && !rest.empty() &&
        (take_figure(key, rest, term) || take_field(key, rest, term)))
      return term;
    const Text text = take_text();
    term.matches_source = text.form == Text::Form::Word && text.text.find('.') != std::string::npos;
    if (text.form == Text::Form::Word) term.number = whole_number(text.text);
    term.matches = condition(text);
    return term;
  }

  // "median>10us", "node:12"
  bool take_figure(const std::string& key, const std::string& rest, Query::Term& term) {
    const auto known = std::find_if(std::begin(kFigures), std::end(kFigures),
                                    [&](const FigureName& each) { return key == each.name; });
    const auto by = std::find_if(kComparisons.begin(), kComparisons.end(),
                                 [&](const char* each) { return rest.starts_with(each); });
    if (known == std::end(kFigures)) {
      const bool compares =
          by != kComparisons.end() && value_of(Unit::Bytes, rest.substr(std::string(*by).size()));
      if (compares)
        throw BadQuery{"there is no figure \"" + key + "\"; use " + names(kFigures) +
                       ", or quote the text"};
      return false;
    }
    const bool is_number = !is_statistic(known->figure) && rest[0] == ':';
    if (by == kComparisons.end() && !is_number) {
      if (rest[0] != ':') return false;
      throw BadQuery{key + " is compared by >, >=, <, <= or =: " + key + ">" +
                     (known->unit == Unit::Time ? "10us" : "5")};
    }
    const std::string_view comparator = is_number ? "=" : *by;
    const std::string value = rest.substr(comparator.size());
    const auto number = value_of(known->unit, value);
    if (!number) {
      throw BadQuery{key + (value.empty() ? " needs " : ": \"" + value + "\" is not ") +
                     example_of(known->unit)};
    }
    term.figure = known->figure;
    term.accepts = comparison(comparator, *number);
    at_ += key.size() + rest.size();
    return true;
  }

  // "kernel:gemm", "kernel:/gemm.*/"
  bool take_field(const std::string& key, const std::string& rest, Query::Term& term) {
    if (rest[0] != ':' || rest.starts_with("::")) return false;
    const auto known = std::find_if(std::begin(kFields), std::end(kFields),
                                    [&](const FieldName& each) { return key == each.name; });
    if (known == std::end(kFields))
      throw BadQuery{"there is no key \"" + key + "\"; use " + names(kFields) +
                     ", node, lane or segment, or quote the text"};
    if (rest.size() == 1)
      throw BadQuery{key + ": needs a text, such as " + key + ":" +
                     (known->field == TextField::Source ? "step.cpp:12" : "copy")};
    at_ += key.size() + 1;
    term.field = known->field;
    term.matches = condition(take_text());
    return true;
  }

  Text take_text() {
    if (text_[at_] == '"') return take_quoted();
    if (text_[at_] == '/' && !ends_at(at_ + 1)) return take_expression();
    const std::string word = word_at(at_);
    at_ += word.size();
    return {word};
  }
  Text take_quoted() {
    std::string text;
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == '"') {
        at_ = at + 1;
        return {text, Text::Form::Quoted};
      }
      if (text_[at] == '\\' && at + 1 < text_.size()) ++at;
      text += text_[at];
    }
    throw BadQuery{text_.substr(at_) + " has no closing quote"};
  }
  // Up to a slash at the end of a word: /src/ in the middle of a pattern needs no escape.
  Text take_expression() {
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == '\\') {
        ++at;
      } else if (text_[at] == '/' && ends_at(at + 1)) {
        const std::string pattern = text_.substr(at_ + 1, at - at_ - 1);
        at_ = at + 1;
        return {pattern, Text::Form::Expression};
      }
    }
    throw BadQuery{word_at(at_) + " has no closing slash; a quoted text may start with one"};
  }

  static std::function<bool(const std::string&)> condition(const Text& text) {
    if (text.form == Text::Form::Expression) return expression(text.text);
    return contains(text.text, ends_in_line(text.text));
  }
  template <class Names>
  static std::string names(const Names& all) {
    std::string text;
    for (const auto& each : all) text += (text.empty() ? "" : ", ") + std::string(each.name);
    return text;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

Query::Query(const std::string& text) {
  try {
    terms_ = Parser(text).terms();
  } catch (const BadQuery& bad) {
    error_ = bad.text;
  }
}

bool Query::has_statistics() const noexcept {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return term.figure && is_statistic(*term.figure); });
}

bool Query::matches_text(const std::string& text) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return term.figure || term.field != TextField::Any || term.matches(text) != term.is_negated;
  });
}

std::string query_term(const char* key, const std::string& text) {
  std::string term = *key == '\0' ? "\"" : std::string(key) + ":\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') term += '\\';
    term += c;
  }
  return term + '"';
}

}  // namespace reprise::model
