#include "trace/chunk.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

constexpr std::array<std::uint8_t, 4> kChunkMagic = {'R', 'C', 'H', 'K'};
constexpr std::array<std::uint8_t, 8> kFileMagic = {'R', 'E', 'P', 'R', 'I', 'S', 'E', '\n'};

// Samples dominate a trace and their encoding is compact. Level -10 takes a third of the time of
// level 1 for a third more bytes, which favours the traced program.
constexpr int compression_level(ChunkKind kind) { return kind == ChunkKind::Samples ? -10 : 1; }

template <class T>
void put(std::uint8_t* out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
}
template <class T>
T get(const std::uint8_t* in) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::uint64_t{in[i]} << (8 * i);
  return static_cast<T>(value);
}

// FNV-1a over the header. The payload is covered by zstd's own checksum.
std::uint32_t checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t hash = 2166136261u;
  for (const std::uint8_t b : bytes) hash = (hash ^ b) * 16777619u;
  return hash;
}

// Offsets in a header; bytes 56 to 59 are reserved and 0.
enum : std::size_t {
  kAtMagic = 0,
  kAtKind = 4,
  kAtCompressed = 8,
  kAtRaw = 12,
  kAtRecords = 16,
  kAtSamples = 20,
  kAtSequence = 28,
  kAtFirst = 36,
  kAtLast = 44,
  kAtChecksum = 60
};

struct TimeSpan {
  Time first = 0, last = 0;
  void cover(Time t) {
    if (t == 0) return;
    first = first == 0 ? t : std::min(first, t);
    last = std::max(last, t);
  }
};

TimeSpan times_of(const Records& records) {
  TimeSpan span;
  Records::each([&]<class R>(std::vector<R> RecordsByKind::*kind) {
    for (const R& record : records.*kind)
      for (const auto moment : kMoments<R>) span.cover(record.*moment);
  });
  for (const SampleBlock& block : records.sample_blocks) {
    for (const Sample& s : block.samples) {
      span.cover(s.started);
      if (s.started != 0) span.cover(s.started + s.duration);
    }
  }
  return span;
}

// Appends a frame that decompressors skip, so that records which compress extremely well still get
// the memory that they need. Most bytes of memory for each uncompressed byte: 8, by small samples.
void pad(std::vector<std::uint8_t>& payload, std::size_t raw_bytes) {
  constexpr std::uint64_t kMemoryPerRawByte = 8, kFrameHeader = 8;
  constexpr std::uint32_t kSkippableFrame = 0x184d2a50;
  const std::uint64_t needed = raw_bytes * kMemoryPerRawByte / ChunkHeader::kMemoryPerByte;
  if (payload.size() >= needed) return;
  const std::size_t at = payload.size();
  const std::uint64_t rest = std::max(needed - at, kFrameHeader);
  payload.resize(at + rest);
  put(&payload[at], kSkippableFrame);
  put(&payload[at + 4], static_cast<std::uint32_t>(rest - kFrameHeader));
}

struct FreeContext {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};

}  // namespace

std::array<std::uint8_t, ChunkHeader::kBytes> encode_header(const ChunkHeader& h) {
  std::array<std::uint8_t, ChunkHeader::kBytes> out{};
  std::copy(kChunkMagic.begin(), kChunkMagic.end(), out.begin());
  out[kAtKind] = static_cast<std::uint8_t>(h.kind);
  put(&out[kAtCompressed], h.compressed_bytes);
  put(&out[kAtRaw], h.raw_bytes);
  put(&out[kAtRecords], h.record_count);
  put(&out[kAtSamples], h.sample_count);
  put(&out[kAtSequence], h.sequence);
  put(&out[kAtFirst], h.first_time);
  put(&out[kAtLast], h.last_time);
  put(&out[kAtChecksum], checksum(std::span(out).first(kAtChecksum)));
  return out;
}

ChunkHeader decode_header(std::span<const std::uint8_t, ChunkHeader::kBytes> bytes) {
  if (!std::equal(kChunkMagic.begin(), kChunkMagic.end(), bytes.begin()))
    throw_corrupt("bad magic in a chunk header");
  if (get<std::uint32_t>(&bytes[kAtChecksum]) != checksum(bytes.first(kAtChecksum)))
    throw_corrupt("bad checksum of a chunk header");
  ChunkHeader h;
  if (bytes[kAtKind] > static_cast<std::uint8_t>(ChunkKind::Contents))
    throw_corrupt("unknown kind of chunk");
  h.kind = static_cast<ChunkKind>(bytes[kAtKind]);
  h.compressed_bytes = get<std::uint32_t>(&bytes[kAtCompressed]);
  h.raw_bytes = get<std::uint32_t>(&bytes[kAtRaw]);
  h.record_count = get<std::uint32_t>(&bytes[kAtRecords]);
  h.sample_count = get<std::uint64_t>(&bytes[kAtSamples]);
  h.sequence = get<std::uint64_t>(&bytes[kAtSequence]);
  h.first_time = get<Time>(&bytes[kAtFirst]);
  h.last_time = get<Time>(&bytes[kAtLast]);
  if (h.raw_bytes > ChunkHeader::kMaxRawBytes ||
      h.compressed_bytes > ChunkHeader::kMaxCompressedBytes) {
    throw TraceError(TraceErrorCode::TooLarge, "a chunk of " + std::to_string(h.raw_bytes) +
                                                   " bytes exceeds the format's limit");
  }
  return h;
}

Chunk make_chunk(ChunkKind kind, const Records& records, std::uint64_t sequence) {
  // Contexts are expensive to create and not thread-safe: one per thread.
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  const std::vector<std::uint8_t> raw = encode(records);
  if (raw.size() > ChunkHeader::kMaxRawBytes) {
    throw TraceError(TraceErrorCode::TooLarge, "a chunk of " + std::to_string(raw.size()) +
                                                   " bytes exceeds the limit of " +
                                                   std::to_string(ChunkHeader::kMaxRawBytes));
  }
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_level(kind));
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  Chunk chunk;
  chunk.payload.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress2(context.get(), chunk.payload.data(), chunk.payload.size(),
                                          raw.data(), raw.size());
  if (ZSTD_isError(size))
    throw TraceError(TraceErrorCode::TooLarge,
                     std::string("zstd cannot compress a chunk: ") + ZSTD_getErrorName(size));
  chunk.payload.resize(size);
  pad(chunk.payload, raw.size());

  ChunkHeader& h = chunk.header;
  h.kind = kind;
  h.compressed_bytes = static_cast<std::uint32_t>(chunk.payload.size());
  h.raw_bytes = static_cast<std::uint32_t>(raw.size());
  h.record_count = static_cast<std::uint32_t>(records.count());
  for (const SampleBlock& b : records.sample_blocks) h.sample_count += b.samples.size();
  h.sequence = sequence;
  const TimeSpan span = times_of(records);
  h.first_time = span.first;
  h.last_time = span.last;
  return chunk;
}

Records read_chunk(const ChunkHeader& header, std::span<const std::uint8_t> payload,
                   std::uint64_t allowance) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  if (payload.size() != header.compressed_bytes)
    throw_corrupt("the size of a chunk differs from its header");
  // Compare with the size that the frame declares before allocating it.
  if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != header.raw_bytes ||
      header.raw_bytes > ChunkHeader::kMaxRawBytes) {
    throw_corrupt("the decompressed size of a chunk differs from its header");
  }
  const std::uint64_t max_bytes = allowance + ChunkHeader::kMemoryPerByte * payload.size();
  if (header.raw_bytes > max_bytes) {
    throw TraceError(TraceErrorCode::TooLarge,
                     "a chunk decompresses to " + std::to_string(header.raw_bytes) +
                         " bytes; the limit for its size is " + std::to_string(max_bytes));
  }
  std::vector<std::uint8_t> raw(header.raw_bytes);
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), payload.data(), payload.size());
  if (ZSTD_isError(size))
    throw_corrupt(std::string("a chunk cannot be decompressed: ") + ZSTD_getErrorName(size));
  if (size != raw.size()) throw_corrupt("the decompressed size of a chunk differs from its header");
  return decode(raw, max_bytes);
}

std::array<std::uint8_t, kPreambleBytes> encode_preamble() {
  std::array<std::uint8_t, kPreambleBytes> out{};
  std::copy(kFileMagic.begin(), kFileMagic.end(), out.begin());
  put(&out[8], kFormatVersion);
  return out;
}

void check_preamble(std::span<const std::uint8_t, kPreambleBytes> bytes) {
  if (!std::equal(kFileMagic.begin(), kFileMagic.end(), bytes.begin()))
    throw TraceError(TraceErrorCode::NotATrace, "not a Reprise trace");
  const auto version = get<std::uint32_t>(&bytes[8]);
  if (version != kFormatVersion) {
    throw TraceError(TraceErrorCode::WrongVersion,
                     "the trace has format version " + std::to_string(version) +
                         "; this program reads version " + std::to_string(kFormatVersion));
  }
}

}  // namespace reprise::trace
