// The segments that pass a rank, from left to right, with look-up by segment and by index.
// Operations take about O(sqrt(n)). Threads: one.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::viewer {

class SegmentList {
 public:
  // For segments 0 .. count - 1; the list starts empty.
  explicit SegmentList(std::uint32_t count);
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  void insert(std::uint32_t place, std::uint32_t segment);  // place <= size()
  void erase(std::uint32_t segment);                        // requires that the list contains it
  [[nodiscard]] std::uint32_t place_of(std::uint32_t segment) const;
  [[nodiscard]] std::uint32_t at(std::uint32_t place) const;  // place < size()

 private:
  using Block = std::vector<std::uint32_t>;
  void split(std::uint32_t order);

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> order_;     // blocks from left to right
  std::vector<std::uint32_t> block_of_;  // per segment
  std::uint32_t size_ = 0;
};

}  // namespace reprise::viewer
