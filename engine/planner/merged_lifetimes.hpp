// Buffers that are likely to lie well together, as one block each: those of one size of which each
// begins where the one before it ends, at the same place; those that live from and to the same
// times, one on top of the other; and five that close around one of them; blocks again like
// buffers. Of what lives at the same times those go together first whose sum is the size of a block
// that ends or begins there. A list that is planned by its blocks may have a higher least height
// than by its buffers, and is much shorter where it comes from a program or was cut from blocks.
// Knows no device. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <reprise/memory_plan.hpp>

namespace reprise::detail {

class MergedLifetimes {
 public:
  MergedLifetimes() = default;  // of nothing
  // O(n log n) a round. There are about as many rounds as blocks are nested, few of lists in which
  // little fits, and the fewer at most the longer a list is.
  explicit MergedLifetimes(std::span<const BufferLifetime> buffers);

  [[nodiscard]] const std::vector<BufferLifetime>& blocks() const noexcept { return blocks_; }
  // Of the buffers, from those of the blocks.
  [[nodiscard]] std::vector<std::uint64_t> offsets_of_buffers(
      std::span<const std::uint64_t> offsets_of_blocks) const;

 private:
  using Stack = std::vector<std::uint32_t>;  // blocks of one lifetime and alignment
  struct Place {
    std::uint32_t block = 0;
    std::uint64_t offset = 0;  // in it
  };
  // What becomes one block.
  struct Union {
    BufferLifetime block;
    std::vector<Place> parts = {};
  };
  // A time at which blocks of a size end, or begin.
  using Joint = std::tuple<std::int64_t, std::uint64_t, std::uint64_t>;  // time, size, alignment
  [[nodiscard]] std::vector<Stack> groups() const;
  [[nodiscard]] std::uint64_t height_of(std::span<const std::uint32_t> stack) const;
  // These merge, and say whether anything was.
  bool chain();
  bool stack_what_fits();
  bool merge_pinwheels();
  bool stack_fewest();
  [[nodiscard]] Union stacked(const Stack& stack) const;
  // Those of no union stay as they are.
  enum class Reason : std::uint8_t { Sizes, Guess };
  bool unite(const std::vector<Union>& unions, Reason reason);

  std::vector<BufferLifetime> blocks_;
  std::vector<Place> places_;  // by buffer
  std::size_t fitted_ = 0;     // blocks that became part of another because of their sizes
  std::uint32_t guesses_ = 0;  // stacks that nothing speaks for
};

}  // namespace reprise::detail
