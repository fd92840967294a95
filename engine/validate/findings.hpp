// Findings: collects the results of the rules for one recording. Threads: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/rules.hpp"
#include "validate/validate.hpp"

namespace reprise::detail {

// In command order; findings about no command come last. Stable.
void sort_by_command(std::vector<Finding>& findings);

class Findings {
 public:
  // Limit of reported findings per rule; further ones are only counted.
  static constexpr std::uint32_t kMaxReported = 64;

  // The recording must outlive this object.
  Findings(const Recording& recording, Validation level) : recording_(recording), level_(level) {}

  [[nodiscard]] bool checks(Validation level) const noexcept { return level_ >= level; }
  // Counts one finding. Returns false above the limit: the caller then skips its text.
  [[nodiscard]] bool count(Rule rule) noexcept {
    return ++counts_[static_cast<std::size_t>(rule)] <= kMaxReported;
  }
  // Adds a finding about one command, prefixed by the command's description. Counts it first; does
  // nothing above the limit.
  void add(Rule rule, std::uint32_t command, std::string_view text);
  // Adds a finding with its whole text after count() returned true. `other`: the earlier command of
  // a pair.
  void add_counted(Rule rule, std::optional<std::uint32_t> command,
                   std::optional<std::uint32_t> other, std::string text);
  // Returns the findings in command order, plus one finding for each rule that exceeded the limit.
  // Clears this object.
  [[nodiscard]] std::vector<Finding> take();

 private:
  const Recording& recording_;
  Validation level_;
  std::array<std::uint64_t, std::size(kRules)> counts_{};
  std::vector<Finding> findings_;
};

}  // namespace reprise::detail
