// HazardTracker: visits commands in an order and reports, for each, the earlier commands that it
// conflicts with: both access a common byte, and at least one writes it. Shared by dependencies and
// validate; knows no barriers and no edges. Reports only neighbours in the history of each byte: if
// every reported pair is ordered as visited, all conflicting pairs are. Threads: one thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "dependencies/segment_table.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

struct Conflict {
  std::uint32_t from = 0;  // the command visited earlier
  std::uint32_t buffer = 0;
  Hazard hazard = Hazard::ReadAfterWrite;
  std::uint64_t begin = 0, end = 0;  // common bytes; for rows, their bounds
};

[[nodiscard]] inline EdgeCause cause_of(const Conflict& conflict) {
  return {.kind = CauseKind::Hazard,
          .hazard = conflict.hazard,
          .buffer = conflict.buffer,
          .begin = conflict.begin,
          .end = conflict.end};
}

// Bytes of a transient buffer that a command reads before any visited command writes them.
struct UninitializedRead {
  std::uint32_t buffer = 0;
  std::uint64_t begin = 0, end = 0;
};

class HazardTracker {
 public:
  enum class Watch : std::uint8_t { Conflicts, ConflictsAndTransients };

  // The recording must outlive the tracker.
  explicit HazardTracker(const Recording& recording, Watch watch = Watch::Conflicts);
  // With the accesses of the recording in terms of memory in which transients have their places.
  HazardTracker(const Recording& recording, std::span<const BufferAccess> in_memory);
  HazardTracker(const HazardTracker&) = delete;
  HazardTracker& operator=(const HazardTracker&) = delete;

  // Returns at most one conflict per pair of commands: the first one found, extended over the
  // contiguous bytes that follow. Each command is visited once. The span is valid until the next
  // visit.
  [[nodiscard]] std::span<const Conflict> visit(std::uint32_t command);
  // For the last visit; only with Watch::ConflictsAndTransients.
  [[nodiscard]] std::span<const UninitializedRead> uninitialized_reads() const noexcept {
    return uninitialized_reads_;
  }

 private:
  // Entry of a list of readers, newest first, that grows only at its head, so that split segments
  // share their common tail.
  struct Reader {
    std::uint32_t command, next;
  };
  // The last writer of some bytes and their readers since.
  struct History {
    std::uint32_t writer = kNone;
    std::uint32_t readers = kNone;  // head in readers_
    friend bool operator==(const History&, const History&) = default;
  };
  using Segments = SegmentTable<History>;
  struct Rows {  // accesses to the same bytes, with gaps between the rows
    BufferAccess access;
    History history;
  };
  struct Split {
    explicit Split(SegmentKeys keys) : segments(std::move(keys)) {}
    Segments segments;
    std::vector<Rows> rows;
  };
  struct Buffer {
    std::uint64_t begin = 0, end = 0;  // the only accessed range, while `split` is null
    History history;
    std::unique_ptr<Split> split;
  };
  struct Touched {
    BufferAccess access;
    History history;
  };

  void add(std::uint32_t from, Hazard hazard, std::uint64_t begin, std::uint64_t end);
  // `access` is in terms of memory. Reports its conflicts with a history of [begin, end). Skips
  // readers visited up to `since`; they are ordered by other edges.
  void report(const History& history, const BufferAccess& access, std::uint64_t begin,
              std::uint64_t end, std::uint32_t since = 0);
  void update(History& history, Access access);
  void visit_split(Split& split, const BufferAccess& access);
  void visit_dense(Segments& segments, const BufferAccess& access);
  void report_segments(Segments& segments, const BufferAccess& access);
  void report_with_rows(Split& split, const BufferAccess& access);
  void update_segments(Segments& segments, const BufferAccess& access);
  void update_rows(Split& split, const BufferAccess& access);
  void find_uninitialized_reads(const Split& split, const BufferAccess& access);
  void add_uninitialized_read(const Split& split, const BufferAccess& access, std::uint64_t begin,
                              std::uint64_t end);
  [[nodiscard]] std::uint32_t newest_writer_over(std::size_t touched) const;
  [[nodiscard]] bool is_watched(const BufferAccess& access) const;
  [[nodiscard]] bool same_rows(const BufferAccess& a, const BufferAccess& b) const;
  // The first segment that `access` may overlap.
  [[nodiscard]] static std::uint32_t first_touched(const Segments& segments,
                                                   const BufferAccess& access) noexcept;

  const Recording& recording_;
  Watch watch_;
  std::vector<BufferAccess> in_memory_;     // of recordings whose buffers share bytes
  std::span<const BufferAccess> accesses_;  // in terms of memory
  std::vector<Buffer> buffers_;
  std::optional<BufferSegmentKeys> keys_;  // created on first use
  std::vector<Reader> readers_;
  std::vector<std::uint32_t> visit_of_;  // by command: 1, 2, ... in visit order
  struct Reported {
    std::uint32_t visit = 0;     // the last visit that reported the command
    std::uint32_t conflict = 0;  // index into conflicts_
  };
  std::vector<Reported> reported_;  // by command
  std::vector<Conflict> conflicts_;
  std::vector<UninitializedRead> uninitialized_reads_;
  std::vector<Touched> touched_;
  std::uint32_t command_ = 0, visit_ = 0;
  // The buffer of the visited access, and that buffer's offset in memory.
  std::uint32_t buffer_ = 0;
  std::uint64_t offset_ = 0;
  // Head of the last extended list, before and after the extension.
  std::uint32_t list_head_before_ = kNone, list_head_after_ = kNone;
};

}  // namespace reprise::detail
