// Segments that pass a rank, from left to right: a list that tells the place of each. An operation
// costs about the square root of the length. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::viewer {

class SegmentList {
 public:
  // Of segments 0 .. count - 1; none is in the list yet.
  explicit SegmentList(std::uint32_t count);
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  void insert(std::uint32_t place, std::uint32_t segment);  // place <= size()
  void erase(std::uint32_t segment);                        // it is in the list
  [[nodiscard]] std::uint32_t place_of(std::uint32_t segment) const;
  [[nodiscard]] std::uint32_t at(std::uint32_t place) const;  // place < size()

 private:
  using Block = std::vector<std::uint32_t>;
  void split(std::uint32_t order);

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> order_;     // blocks from left to right
  std::vector<std::uint32_t> block_of_;  // a segment each
  std::uint32_t size_ = 0;
};

}  // namespace reprise::viewer
