// Converts the records of one session to those of a merged trace: ids that are unique over all
// sessions, and times on the clock of the reference session. Knows nothing about files.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/codec.hpp"

namespace reprise::trace {

// The ids of a merged trace, in use by the converters of all its sessions. Threads: any.
class MergedIds {
 public:
  [[nodiscard]] std::uint32_t next(IdKind kind) noexcept {
    return next_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint32_t>, kIdKinds> next_{};
};

// Threads: one at a time; converters of one MergedIds may run concurrently.
class RankConverter {
 public:
  // `ids` outlives the converter. `alignment` names the session of the records.
  RankConverter(MergedIds& ids, const ClockAlignment& alignment)
      : ids_(ids), alignment_(alignment) {}

  // For the records converted from now on.
  void set_alignment(const ClockAlignment& alignment) { alignment_ = alignment; }
  // An id is assigned when it first occurs. Removes the records of
  // clocks that a merged trace replaces: exchanges, alignments, and UTC on other sessions than the
  // reference. Adds a name for every thread that first occurs without one.
  void convert(Records& records);

 private:
  void map(IdKind kind, std::uint32_t& id);
  template <class R>
  void convert(R& record);
  void name_thread(std::vector<ThreadName>& names, std::uint32_t own);
  void align(Time& time) const;

  MergedIds& ids_;
  ClockAlignment alignment_;
  std::array<std::unordered_map<std::uint32_t, std::uint32_t>, kIdKinds> mapped_;
};

// An own time of the session on the clock of the reference. An unknown time stays unknown; times
// outside the range of a trace move to its limit.
[[nodiscard]] Time aligned(const ClockAlignment& alignment, Time own) noexcept;

}  // namespace reprise::trace
