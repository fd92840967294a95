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
  Found become(std::uint64_t hash) {
    const auto at = std::find(hashes_.begin(), hashes_.end(), hash);
    if (at == hashes_.end() && hashes_.size() == kMost) return Found::Full;
    now_ = static_cast<std::uint32_t>(at - hashes_.begin()) + 1;
    if (at != hashes_.end()) return Found::Known;
    hashes_.push_back(hash);
    return Found::New;
  }
  // True on the first call; limits the message about the limit to one.
  [[nodiscard]] bool say_full() noexcept { return !std::exchange(has_said_full_, true); }
  // Counts from 1; 0: none yet.
  [[nodiscard]] std::uint32_t now() const noexcept { return now_; }

 private:
  std::vector<std::uint64_t> hashes_;  // index: version - 1
  std::uint32_t now_ = 0;
  bool has_said_full_ = false;
};

}  // namespace reprise::detail
