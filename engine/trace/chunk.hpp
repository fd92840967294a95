// Chunks: what a trace is made of, on disk and on the wire: a header of fixed size, then the zstd
// frame of one encoded Records. The header says what is inside, so that a reader skips what it does
// not want. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trace/codec.hpp"

namespace reprise::trace {

inline constexpr std::uint32_t kFormatVersion = 1;

// What a chunk holds; writers keep the three apart. Topology is what every later chunk may refer
// to.
enum class ChunkKind : std::uint8_t { Topology, Events, Samples };

struct ChunkHeader {
  static constexpr std::size_t kBytes = 64;
  // No writer makes larger ones; a reader refuses them before it allocates.
  static constexpr std::uint32_t kMaxRawBytes = 256u << 20;
  static constexpr std::uint32_t kMaxCompressedBytes = 256u << 20;

  ChunkKind kind = ChunkKind::Topology;
  std::uint32_t compressed_bytes = 0, raw_bytes = 0;
  std::uint32_t record_count = 0;      // blocks count as one
  std::uint64_t sample_count = 0;      // node samples in blocks
  std::uint64_t sequence = 0;          // of the session, from 0
  Time first_time = 0, last_time = 0;  // of what is inside; 0, 0: nothing with a time
};

struct Chunk {
  ChunkHeader header;
  std::vector<std::uint8_t> payload;  // compressed

  [[nodiscard]] std::size_t size() const noexcept { return ChunkHeader::kBytes + payload.size(); }
};

[[nodiscard]] std::array<std::uint8_t, ChunkHeader::kBytes> encode_header(
    const ChunkHeader& header);
// Checks magic, its own checksum, kind and sizes. Throws TraceError (Corrupt, TooLarge).
[[nodiscard]] ChunkHeader decode_header(std::span<const std::uint8_t, ChunkHeader::kBytes> bytes);

// `sequence` is the session's running number.
[[nodiscard]] Chunk make_chunk(ChunkKind kind, const Records& records, std::uint64_t sequence);
// Checks the payload's checksum and sizes, then decodes. Throws TraceError.
[[nodiscard]] Records read_chunk(const ChunkHeader& header, std::span<const std::uint8_t> payload);

// What a file or a connection begins with.
inline constexpr std::size_t kPreambleBytes = 16;
[[nodiscard]] std::array<std::uint8_t, kPreambleBytes> encode_preamble();
void check_preamble(
    std::span<const std::uint8_t, kPreambleBytes> bytes);  // throws TraceError (NotATrace, TooNew)

}  // namespace reprise::trace
