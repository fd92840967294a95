// TraceFile: writes chunks to a file, which it locks against other processes. With a size limit it
// is a flight recorder: it keeps the newest chunks, and before them the topology that they may
// refer to (TopologyState). The file on disk is a complete trace at every moment, because a rewrite
// replaces it atomically. Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <vector>

#include "trace/chunk_sink.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::trace {

struct TraceFileDesc {
  std::filesystem::path path;
  std::uint64_t max_bytes = 0;  // 0: no limit; exceeded by one chunk at most
  // Behaviour at the limit: Last drops the oldest chunks, First drops new ones.
  enum class Keep : std::uint8_t { First, Last } keep = Keep::Last;
  // Append continues an existing trace after its last complete chunk.
  enum class Start : std::uint8_t { Replace, Append } start = Start::Replace;
};

class TraceFile : public ChunkSink {
 public:
  static constexpr std::uint64_t kMinMaxBytes = 64 << 10;

  // Creates, replaces or continues the file. If another TraceFile is writing it, in this process or
  // another, creates FILE.PID instead, which path() returns. Throws TraceError with the path: Io,
  // and for Append every error of TraceReader.
  explicit TraceFile(TraceFileDesc desc);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() override;

  // Before a chunk of contents, the mode of the file becomes 0600.
  void write(const std::shared_ptr<const Chunk>& chunk) override;
  void flush() override;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return desc_.path; }
  // Sequence number for the next chunk: larger than that of every chunk already in the file.
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Chunks of events and samples, and with Keep::First of topology, dropped because of the limit.
  [[nodiscard]] std::uint64_t dropped_chunks() const noexcept { return dropped_; }

 private:
  void create(int file);
  void resume(int file);
  void append(const Chunk& chunk);
  void append_bytes(int file, const void* data, std::size_t bytes);
  void make_private() const;
  void write_limited(const Chunk& chunk);
  void rewrite(const Chunk& newest);
  [[nodiscard]] std::shared_ptr<const Chunk> read(const ChunkEntry& entry) const;

  TraceFileDesc desc_;
  int file_ = -1;
  std::uint64_t bytes_ = 0, dropped_ = 0, next_sequence_ = 0;
  std::deque<ChunkEntry> kept_;  // flight recorder: every chunk in the file
};

// The trace of one rank of a job whose traces are named `path`: "run.rank03.reprise" of rank 3 of
// 16 and "run.reprise"; `path` itself for a job of one rank.
[[nodiscard]] std::filesystem::path rank_path(const std::filesystem::path& path, std::uint32_t rank,
                                              std::uint32_t ranks);

// Whether a TraceFile of any process is writing the file at `path`.
[[nodiscard]] bool is_being_written(const std::filesystem::path& path);

}  // namespace reprise::trace
