// PoisonedRecording: makes recordings for race finding from one recording: commands in another
// order, transients at fixed offsets of one buffer, and fills that overwrite ("poison") bytes that
// no transient owns: the whole slab first, then each transient's bytes after its last use. Knows no
// device. Threads: immutable; make() may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dependencies/topological_orders.hpp"
#include "memory/placement.hpp"
#include "record/linear_writer.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// The contents of bytes that no transient owns.
struct Poison {
  std::uint8_t pattern = 0xff, alternate = 0x7f;
  // `alternate` before commands at earlier positions of the order, `pattern` from this one on.
  std::uint32_t pattern_from = 0;
  // While the command at `position` runs, `ranges`, which are free and ascending, hold `alternate`.
  std::uint32_t position = kNone;
  std::span<const ByteRange> ranges = {};
};

class PoisonedRecording {
 public:
  // `placement` is valid for every order that `dependencies` allow. `slab` has room for it; null
  // without transients.
  PoisonedRecording(std::shared_ptr<const Recording> recording, const DependencyGraph& dependencies,
                    const Placement& placement, const std::shared_ptr<BufferCore>& slab);

  // Ordering::Linear: the first `count` nodes of `order`.
  [[nodiscard]] std::shared_ptr<const Recording> make(std::span<const std::uint32_t> order,
                                                      std::uint32_t count,
                                                      const Poison& poison) const;

  // A transient, and its first and last positions of use in an order.
  struct LiveRange {
    std::uint32_t buffer = 0;  // of the recording
    ByteRange bytes;           // of the slab
    std::uint32_t first = kNone, last = 0;
  };
  [[nodiscard]] std::vector<LiveRange> live_ranges(std::span<const std::uint32_t> order) const;
  // The bytes that no transient owns before the command at `position` runs, ascending. A transient
  // that this command is the first to use owns none yet.
  [[nodiscard]] std::vector<ByteRange> free_before(std::uint32_t position,
                                                   std::span<const LiveRange> ranges) const;

 private:
  std::shared_ptr<const Recording> recording_;
  const DependencyGraph& dependencies_;
  std::vector<LiveRange> transients_;                 // without positions
  std::vector<std::uint32_t> transient_of_;           // by buffer; kNone: no transient
  std::vector<std::shared_ptr<BufferCore>> buffers_;  // of the recordings that make() returns
  std::uint32_t slab_ = kNone;                        // in buffers_
  std::uint64_t slab_bytes_ = 0;
};

}  // namespace reprise::detail
