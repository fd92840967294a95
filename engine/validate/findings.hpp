// Findings: collects what the rules report about one recording. Threads: one thread at a time.
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
  // How many a rule reports; the rest is counted.
  static constexpr std::uint32_t kReported = 64;

  // The recording outlives the findings.
  Findings(const Recording& recording, Validation level) : recording_(recording), level_(level) {}

  [[nodiscard]] bool checks(Validation level) const noexcept { return level_ >= level; }
  // True while the rule reports; else it was only counted, and its text need not be made.
  [[nodiscard]] bool count(Rule rule) noexcept {
    return ++counts_[static_cast<std::size_t>(rule)] <= kReported;
  }
  // A finding about one command: its description, then `text`. Nothing if the rule has reported
  // enough.
  void add(Rule rule, std::uint32_t command, std::string_view text);
  // A finding whose whole text is `text`, after count() was true. `other`: the earlier command of a
  // pair.
  void add_counted(Rule rule, std::optional<std::uint32_t> command,
                   std::optional<std::uint32_t> other, std::string text);
  // In command order, with one more for each rule that did not report all. Empties this.
  [[nodiscard]] std::vector<Finding> take();

 private:
  const Recording& recording_;
  Validation level_;
  std::array<std::uint64_t, std::size(kRules)> counts_{};
  std::vector<Finding> findings_;
};

}  // namespace reprise::detail
