// Chunks: the unit of a trace, in files and on connections. A chunk is a header of fixed size
// followed by one zstd frame of encoded Records. The header describes the contents, so a reader can
// skip chunks without decompressing them. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trace/codec.hpp"

namespace reprise::trace {

inline constexpr std::uint32_t kFormatVersion = 3;

// The records of a chunk; a writer never mixes them. Chunks of any kind refer only to topology in
// earlier chunks. Contents: ContentBlocks, the data of programs, and nothing else.
enum class ChunkKind : std::uint8_t { Topology, Events, Samples, Contents };

struct ChunkHeader {
  static constexpr std::size_t kBytes = 64;
  // Upper limits of every writer. A reader rejects larger values before it allocates.
  static constexpr std::uint32_t kMaxRawBytes = 256u << 20;
  static constexpr std::uint32_t kMaxCompressedBytes = 256u << 20;
  // Memory that a reader grants to a chunk: an allowance, and this much for each compressed byte.
  // make_chunk() pads chunks that compress better.
  static constexpr std::uint64_t kMemoryPerByte = 1024;
  static constexpr std::uint64_t kMemoryAllowance = 16u << 20;

  ChunkKind kind = ChunkKind::Topology;
  std::uint32_t compressed_bytes = 0, raw_bytes = 0;
  std::uint32_t record_count = 0;      // a block counts as one record
  std::uint64_t sample_count = 0;      // node samples in all blocks
  std::uint64_t sequence = 0;          // position in the session, from 0
  Time first_time = 0, last_time = 0;  // range of the records' times; 0, 0: no record has a time
};

struct Chunk {
  ChunkHeader header;
  std::vector<std::uint8_t> payload;  // zstd frame

  [[nodiscard]] std::size_t size() const noexcept { return ChunkHeader::kBytes + payload.size(); }
};

[[nodiscard]] std::array<std::uint8_t, ChunkHeader::kBytes> encode_header(
    const ChunkHeader& header);
// Checks the magic, the header's checksum, the kind and the sizes. Throws TraceError (Corrupt,
// TooLarge).
[[nodiscard]] ChunkHeader decode_header(std::span<const std::uint8_t, ChunkHeader::kBytes> bytes);

// `sequence`: position of the chunk in its session. Throws TraceError (TooLarge).
[[nodiscard]] Chunk make_chunk(ChunkKind kind, const Records& records, std::uint64_t sequence);
// Checks the sizes and the payload's checksum, then decodes. `allowance`: bytes of memory beyond
// kMemoryPerByte. Throws TraceError (Corrupt, TooLarge).
[[nodiscard]] Records read_chunk(const ChunkHeader& header, std::span<const std::uint8_t> payload,
                                 std::uint64_t allowance = ChunkHeader::kMemoryAllowance);

// The first bytes of a file and of a connection: magic and format version.
inline constexpr std::size_t kPreambleBytes = 16;
[[nodiscard]] std::array<std::uint8_t, kPreambleBytes> encode_preamble();
void check_preamble(std::span<const std::uint8_t, kPreambleBytes>
                        bytes);  // throws TraceError (NotATrace, WrongVersion)

}  // namespace reprise::trace
