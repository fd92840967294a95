// The heaviest antichain of a partial order: the set of pairwise incomparable elements with the
// greatest total weight. By the weighted form of Dilworth's theorem it is the complement of a
// minimum cut. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::model {

// A strict partial order of `size` elements, one bit for each pair.
class PartialOrder {
 public:
  explicit PartialOrder(std::uint32_t size)
      : size_(size), words_((size + 63) / 64), bits_(std::size_t{size} * words_, 0) {}

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t words() const noexcept { return words_; }
  void add(std::uint32_t before, std::uint32_t after) {
    bits_[std::size_t{before} * words_ + after / 64] |= std::uint64_t{1} << after % 64;
  }
  [[nodiscard]] bool precedes(std::uint32_t before, std::uint32_t after) const {
    return (row(before)[after / 64] >> after % 64 & 1) != 0;
  }
  // The elements after `element`, one bit each.
  [[nodiscard]] const std::uint64_t* row(std::uint32_t element) const {
    return bits_.data() + std::size_t{element} * words_;
  }

 private:
  std::uint32_t size_, words_;
  std::vector<std::uint64_t> bits_;
};

// The elements, ascending; elements without weight are left out. `order` must be transitive, and
// the weights must add up to less than 2^63. A few milliseconds for a thousand elements.
[[nodiscard]] std::vector<std::uint32_t> heaviest_antichain(
    const PartialOrder& order, const std::vector<std::uint64_t>& weights);

}  // namespace reprise::model
