// HostRows: the host ranges of a document, indexed by thread and depth for fast lookup of the
// visible part. Performs no drawing. Threads: HostRows is an immutable value; a builder is used by
// one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/busy_time.hpp"
#include "model/growing_list.hpp"
#include "trace/records.hpp"

namespace reprise::viewer {

struct HostSpan {
  trace::Time started = 0, ended = 0;
  std::uint32_t range = 0;  // index in the document's list
};

struct HostRows {
  using Key = std::pair<std::uint32_t, std::uint16_t>;  // thread, depth
  model::ListView<trace::HostRange> ranges;
  struct Row {
    model::ListView<HostSpan> spans;  // sorted by start; disjoint
    model::BusyTime busy;
  };
  std::map<Key, Row> rows;
};

class HostRowsBuilder {
 public:
  // Adds the ranges that were appended since the last call.
  [[nodiscard]] HostRows extend(const model::ListView<trace::HostRange>& ranges);

 private:
  std::size_t consumed_ = 0;
  std::map<HostRows::Key, model::GrowingList<HostSpan>> rows_;
};

}  // namespace reprise::viewer
