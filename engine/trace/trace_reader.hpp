// TraceReader: opens a trace file by its chunk headers alone and reads chunks when asked. A file
// that was cut off at any byte, or that is still being written, opens up to its last whole chunk.
// Memory: the index (64 bytes a chunk) and what a caller reads. Threads: read() may be called from
// many threads at once; refresh() from one, with no read() at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trace/chunk.hpp"

namespace reprise::trace {

struct ChunkEntry {
  std::uint64_t offset = 0;  // of the header, in the file
  ChunkHeader header;
};

class TraceReader {
 public:
  // Throws TraceError (Io, NotATrace, TooNew) naming the path.
  explicit TraceReader(std::filesystem::path path);
  TraceReader& operator=(const TraceReader&) = delete;
  ~TraceReader();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<ChunkEntry>& chunks() const noexcept { return chunks_; }
  // Bytes after the last whole chunk: 0 for a file that was closed.
  [[nodiscard]] std::uint64_t trailing_bytes() const noexcept { return trailing_bytes_; }
  // Why the index ends before the file does; empty if it does not.
  [[nodiscard]] const std::string& damage() const noexcept { return damage_; }

  [[nodiscard]] Records read(const ChunkEntry& entry) const;  // throws TraceError
  // Looks for chunks that were written since; returns how many are new.
  std::size_t refresh();
  // Another reader of the same open file that knows the chunks written since too, at the same
  // places of its index: for who may not refresh this one because others read. Null: the file does
  // not go on from what this one knows, it was cut or written anew. Throws TraceError (Io). May be
  // called while others read.
  [[nodiscard]] std::shared_ptr<TraceReader> follow() const;

 private:
  TraceReader(const TraceReader& earlier);  // of follow() alone
  [[nodiscard]] bool still_stands() const;  // what the index says

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t indexed_ = 0;  // bytes that the index covers
  std::uint64_t trailing_bytes_ = 0;
  std::string damage_;
  std::vector<ChunkEntry> chunks_;
};

}  // namespace reprise::trace
