// GraphVersions: the versions of one graph in the trace, identified by hash. A graph that
// alternates between recordings reuses their versions. At most kMost versions are recorded.
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
    Known,  // already in the trace
    New,    // must be recorded
    Full    // the limit is reached; the current version stays
  };

  // Makes the version with this hash current.
  Found select(std::uint64_t hash) {
    const auto at = std::find(hashes_.begin(), hashes_.end(), hash);
    if (at == hashes_.end() && hashes_.size() == kMost) return Found::Full;
    current_ = static_cast<std::uint32_t>(at - hashes_.begin()) + 1;
    if (at != hashes_.end()) return Found::Known;
    hashes_.push_back(hash);
    return Found::New;
  }
  // True on the first call; limits the message about the limit to one.
  [[nodiscard]] bool report_full_once() noexcept {
    return !std::exchange(has_reported_full_, true);
  }
  // Counts from 1; 0: none yet.
  [[nodiscard]] std::uint32_t current() const noexcept { return current_; }

 private:
  std::vector<std::uint64_t> hashes_;  // index: version - 1
  std::uint32_t current_ = 0;
  bool has_reported_full_ = false;
};

}  // namespace reprise::detail
