// PoisonedRecording: a recording with its commands in another order, its transients at fixed places
// of one buffer, and fills that overwrite what belongs to no transient: the whole slab at first,
// and the bytes of each transient after its last use. What race finding replays. Knows no device.
// Threads: immutable; recordings may be made of it from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dependencies/topological_orders.hpp"
#include "memory/placement.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};

// What lies in bytes that no transient owns.
struct Poison {
  std::uint8_t usual = 0xff, other = 0x7f;
  // While commands before this place of the order run it is `other`, then `usual`.
  std::uint32_t usual_from = 0;
  // While the command at place `at` runs, these bytes hold `other`; free ones, ascending.
  std::uint32_t at = kNone;
  std::span<const ByteRange> ranges = {};
};

class PoisonedRecording {
 public:
  // `placement` holds in every order that `schedule` allows. `slab` has room for it; null where
  // there are no transients.
  PoisonedRecording(std::shared_ptr<const Recording> recording, const DependencyGraph& dependencies,
                    const Placement& placement, const std::shared_ptr<BufferCore>& slab);

  // Ordering::Linear: the first `count` nodes of `order`.
  [[nodiscard]] std::shared_ptr<const Recording> make(std::span<const std::uint32_t> order,
                                                      std::uint32_t count,
                                                      const Poison& poison) const;

  // A transient that something uses, and the first and last place of an order where it is used.
  struct Life {
    std::uint32_t buffer = 0;  // of the recording
    ByteRange bytes;           // of the slab
    std::uint32_t first = kNone, last = 0;
  };
  [[nodiscard]] std::vector<Life> lives_in(std::span<const std::uint32_t> order) const;
  // Ascending: what no transient owns before the command at `place` runs. One that it is the first
  // to use owns nothing yet.
  [[nodiscard]] std::vector<ByteRange> free_before(std::uint32_t place,
                                                   std::span<const Life> lives) const;

 private:
  class Writer;
  std::shared_ptr<const Recording> recording_;
  const DependencyGraph& dependencies_;
  std::vector<Life> transients_;                      // without their places in an order
  std::vector<std::uint32_t> transient_of_;           // by buffer; kNone: of no transient
  std::vector<std::shared_ptr<BufferCore>> buffers_;  // of what is made
  std::uint32_t slab_ = kNone;                        // in buffers_
  std::uint64_t slab_bytes_ = 0;
};

}  // namespace reprise::detail
