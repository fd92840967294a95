#include "base/block_interval.hpp"

#include "base/text.hpp"

namespace reprise::detail {

std::string to_text(const BlockInterval& interval) {
  if (interval.divisor == 0) return "all blocks";
  const auto term = [&](std::int64_t offset) {
    std::string text;
    if (interval.factor == 0) {
      text = std::to_string(offset);
    } else {
      text = interval.factor == 1 ? "b" : concat(interval.factor, " b");
      const auto bits = static_cast<std::uint64_t>(offset);  // the min has no negative
      if (offset != 0) text += concat(offset < 0 ? " - " : " + ", offset < 0 ? 0 - bits : bits);
    }
    return interval.divisor == 1 ? text : concat("floor((", text, ") / ", interval.divisor, ")");
  };
  if (interval.low == interval.high) return "block " + term(interval.low);
  return concat("blocks ", term(interval.low), " to ", term(interval.high));
}

}  // namespace reprise::detail
