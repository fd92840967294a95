// HazardTracker: visits commands in an order and tells, of each, the visited ones that it conflicts
// with: two that touch a byte in common, at least one of them writing. Shared by schedule and
// validate; knows no barrier and no edge. Only neighbours in a byte's history are reported: where
// each reported pair is ordered as visited, all others are. Threads: one thread at a time.
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
  std::uint32_t from = 0;  // command visited earlier
  std::uint32_t buffer = 0;
  Hazard hazard = Hazard::ReadAfterWrite;
  std::uint64_t begin = 0, end = 0;  // bytes that both touch; of rows, their bounds
};

[[nodiscard]] inline EdgeCause cause_of(const Conflict& conflict) {
  return {.kind = CauseKind::Hazard,
          .hazard = conflict.hazard,
          .buffer = conflict.buffer,
          .begin = conflict.begin,
          .end = conflict.end};
}

// Bytes of a transient buffer that a command reads and that nothing visited before it writes.
struct UninitializedRead {
  std::uint32_t buffer = 0;
  std::uint64_t begin = 0, end = 0;
};

class HazardTracker {
 public:
  enum class Watch : std::uint8_t { Conflicts, ConflictsAndTransients };

  // The recording outlives the sweep.
  explicit HazardTracker(const Recording& recording, Watch watch = Watch::Conflicts);

  // At most one conflict a pair of commands, the first found, with the bytes that follow on its own
  // as far as it goes on in them. Visit each command once; valid until the next visit.
  [[nodiscard]] std::span<const Conflict> visit(std::uint32_t command);
  // Of the last visit; only with Watch::ConflictsAndTransients.
  [[nodiscard]] std::span<const UninitializedRead> uninitialized_reads() const noexcept {
    return unwritten_;
  }

 private:
  // Readers in a list that only grows at its head, newest first, so that segments which were split
  // share what they had.
  struct Reader {
    std::uint32_t command, next;
  };
  // The last writer of some bytes, and who read them since.
  struct History {
    std::uint32_t writer = kNone;
    std::uint32_t readers = kNone;  // in readers_
    friend bool operator==(const History&, const History&) = default;
  };
  using Segments = SegmentTable<History>;
  struct Rows {  // accesses with gaps between their rows, all of the same bytes
    BufferAccess access;
    History history;
  };
  struct Split {
    explicit Split(SegmentKeys keys) : segments(std::move(keys)) {}
    Segments segments;
    std::vector<Rows> rows;
  };
  struct Buffer {
    std::uint64_t begin = 0,
                  end = 0;  // the one range that was ever accessed, while `split` is null
    History history;
    std::unique_ptr<Split> split;
  };
  struct Touched {
    BufferAccess access;
    History history;
  };

  void add(std::uint32_t from, Hazard hazard, std::uint32_t buffer, std::uint64_t begin,
           std::uint64_t end);
  // Reports what `access` conflicts with in a history of [begin, end). Readers visited up to
  // `since` are ordered otherwise.
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
  void note_unwritten(const Split& split, const BufferAccess& access, std::uint64_t begin,
                      std::uint64_t end);
  [[nodiscard]] std::uint32_t newest_writer_over(std::size_t touched) const;
  [[nodiscard]] bool watches(const BufferAccess& access) const;
  [[nodiscard]] bool same_rows(const BufferAccess& a, const BufferAccess& b) const;
  // The first segment that `access` may touch.
  [[nodiscard]] static std::uint32_t first_touched(const Segments& segments,
                                                   const BufferAccess& access) noexcept;

  const Recording& recording_;
  Watch watch_;
  std::vector<Buffer> buffers_;
  std::optional<SegmentKeysOfBuffers> keys_;  // made when it is first needed
  std::vector<Reader> readers_;
  std::vector<std::uint32_t> visit_of_;  // by command: 1, 2... in the order of visits
  struct Reported {
    std::uint32_t visit = 0,
                  conflict = 0;  // the last visit that reported it, and where in conflicts_
  };
  std::vector<Reported> reported_;  // by command
  std::vector<Conflict> conflicts_;
  std::vector<UninitializedRead> unwritten_;
  std::vector<Touched> touched_;
  std::uint32_t command_ = 0, visit_ = 0;
  std::uint32_t list_before_ = kNone,
                list_after_ = kNone;  // the last list that this command was put in front of
};

}  // namespace reprise::detail
