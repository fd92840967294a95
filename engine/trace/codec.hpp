// Encodes Records to the bytes of one chunk and back, as FlatBuffers (schema.fbs). chunk.hpp adds
// compression and framing. Knows nothing about files and sockets. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// The records of one chunk.
struct Records : RecordsByKind {
  void add(Record record);
  [[nodiscard]] std::size_t count() const noexcept;  // over all kinds
  [[nodiscard]] bool empty() const noexcept { return count() == 0; }
  void clear() noexcept;
  friend bool operator==(const Records&, const Records&) = default;
};

// Approximate size of a record in memory; bounds queues and chunks.
[[nodiscard]] std::size_t memory_bytes(const Record& record);

[[nodiscard]] std::vector<std::uint8_t> encode(const Records& records);

// Verifies the bytes, then checks that every index is within its vector and every time within 95
// years (3e18 ns) of 0; consumers need no further checks to index, to subtract two times and to add
// a third. Throws TraceError: Corrupt with the first violation, TooLarge if the records, with the
// names of nodes written out, need more than `max_bytes` or much more memory than the bytes,
// because they share strings.
[[nodiscard]] Records decode(std::span<const std::uint8_t> bytes,
                             std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace reprise::trace
