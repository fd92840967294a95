// GraphVersions: which versions of one graph the trace has, by what they hash to. A graph that goes
// to and fro between recordings has one version for each of them, and none more than kMost.
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace reprise::detail {

class GraphVersions {
 public:
  static constexpr std::size_t kMost = 256;
  enum class Found : std::uint8_t {
    Known,  // the trace has it
    New,    // the trace is to be told of it
    Full    // there are so many that it is not told; the version stays
  };

  // What the graph is from now on.
  Found become(std::uint64_t hash) {
    const auto at = std::find(hashes_.begin(), hashes_.end(), hash);
    if (at == hashes_.end() && hashes_.size() == kMost) return Found::Full;
    now_ = static_cast<std::uint32_t>(at - hashes_.begin()) + 1;
    if (at != hashes_.end()) return Found::Known;
    hashes_.push_back(hash);
    return Found::New;
  }
  // Whether nobody was told yet that there are so many.
  [[nodiscard]] bool say_full() noexcept { return !std::exchange(has_said_full_, true); }
  // From 1; 0: it is not in the trace yet.
  [[nodiscard]] std::uint32_t now() const noexcept { return now_; }

 private:
  std::vector<std::uint64_t> hashes_;  // by version - 1
  std::uint32_t now_ = 0;
  bool has_said_full_ = false;
};

}  // namespace reprise::detail
