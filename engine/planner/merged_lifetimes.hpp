// MergedLifetimes: merges buffers that are likely to lie together into blocks. Candidates are
// chains (buffers of one size, each starting at the end of the previous one, at one offset), stacks
// (buffers with the same start and end, one above the other) and pinwheels (four buffers around a
// fifth). Blocks are merged again like buffers. Stacks whose total size equals that of an adjacent
// block are merged first. A plan of the blocks can have a higher minimum peak than a plan of the
// buffers. The list is much shorter if the lifetimes come from a program or were cut from blocks.
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
  MergedLifetimes() = default;  // of an empty list
  // O(n log n) for each iteration. The number of iterations is about the nesting depth of the
  // blocks, and is limited more strictly for longer lists.
  explicit MergedLifetimes(std::span<const BufferLifetime> buffers);

  [[nodiscard]] const std::vector<BufferLifetime>& blocks() const noexcept { return blocks_; }
  // Converts offsets of blocks to offsets of buffers.
  [[nodiscard]] std::vector<std::uint64_t> offsets_of_buffers(
      std::span<const std::uint64_t> offsets_of_blocks) const;

 private:
  using Stack = std::vector<std::uint32_t>;  // blocks of one lifetime and alignment
  struct Location {
    std::uint32_t block = 0;
    std::uint64_t offset = 0;  // in the block
  };
  // A new block and its parts.
  struct Merge {
    BufferLifetime block;
    std::vector<Location> parts = {};
  };
  // A time at which blocks of one size and alignment start or end.
  using EdgeKey = std::tuple<std::int64_t, std::uint64_t, std::uint64_t>;  // time, size, alignment
  [[nodiscard]] std::vector<Stack> groups() const;
  [[nodiscard]] std::uint64_t stacked_bytes(std::span<const std::uint32_t> stack) const;
  // Each of these returns true if it merged blocks.
  bool merge_chains();
  bool merge_matching_stacks();
  bool merge_pinwheels();
  bool merge_smallest_stack();
  [[nodiscard]] Merge stacked(const Stack& stack) const;
  // Blocks outside every merge stay unchanged.
  enum class Reason : std::uint8_t { Sizes, Guess };
  bool apply(const std::vector<Merge>& merges, Reason reason);

  std::vector<BufferLifetime> blocks_;
  std::vector<Location> locations_;  // by buffer
  std::size_t fitted_ = 0;           // blocks that were merged because their sizes match
  std::uint32_t guesses_ = 0;        // merges of stacks whose size matches no other block
};

}  // namespace reprise::detail
