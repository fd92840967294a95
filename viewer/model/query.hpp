// Query: the text of a search, parsed. Blanks separate its terms, which must all match; letters
// match in either case.
//
//   relu  "two words"  occurs in the name, label path or kernel of a node or in the name of a
//   buffer
//                      that it accesses; a text with a dot also in the source lines and
//                      functions of its call stack
//   12                 also matches the node with this number
//   kernel:gemm        occurs in this text alone: see TextField
//   kind:reduction     the kind of the kernel (see Graph::kind_name()) or of the node
//   /gemm.*128/        a regular expression (ECMAScript), also after a key: kernel:/gemm.*128/
//   median>10us        compares a figure by > >= < <= or =: see Figure; node:12, lane:0, segment:0
//   -label:backward    the opposite of any term
//
// Threads: an immutable value, safe to read concurrently.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace reprise::model {

// Any: of a term without a key. Source: "src/step.cpp:12", or a line or function of the call stack.
enum class TextField : std::uint8_t { Any, Name, Kernel, Label, Buffer, Source, Kind };

// From Median on: statistics over the selected replays; times in ns, Share a fraction.
enum class Figure : std::uint8_t {
  Node,
  Lane,
  Segment,
  Bytes,
  Median,
  P99,
  Mean,
  Min,
  Max,
  Share,
  Slack,
  Samples
};
[[nodiscard]] constexpr bool is_statistic(Figure figure) { return figure >= Figure::Median; }

class Query {
 public:
  struct Term {
    bool is_negated = false;
    std::optional<Figure> figure = {};  // empty: the term is about a text
    TextField field = TextField::Any;
    bool matches_source = false;               // of Any: matches Source too
    std::optional<std::uint32_t> number = {};  // of Any: matches the node with this number too
    std::function<bool(double)> accepts = {};  // of a figure; false for NaN
    std::function<bool(const std::string&)> matches = {};  // of a text
  };

  // Never throws for a bad query: it has an error and no terms.
  explicit Query(const std::string& text);

  // What is wrong with the query, and the remedy; empty: nothing.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] const std::vector<Term>& terms() const noexcept { return terms_; }
  [[nodiscard]] bool has_statistics() const noexcept;
  // Whether a text that is not of a node matches the terms without a key; the others do not apply.
  [[nodiscard]] bool matches_text(const std::string& text) const;

 private:
  std::string error_;
  std::vector<Term> terms_;
};

// The term that matches this text: kernel:"saxpy<float>". No key: matches any text.
[[nodiscard]] std::string query_term(const char* key, const std::string& text);

}  // namespace reprise::model
