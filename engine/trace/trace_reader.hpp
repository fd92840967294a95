// TraceReader: indexes a trace file by its chunk headers and reads chunks on demand. A file that is
// truncated or still being written opens up to its last complete chunk. Memory: 64 bytes per chunk
// for the index, plus the records that callers read. Threads: read() and follow() may run
// concurrently; refresh() requires exclusive access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "trace/chunk.hpp"

namespace reprise::trace {

struct ChunkEntry {
  std::uint64_t offset = 0;  // position of the header in the file
  ChunkHeader header;
};

class TraceReader {
 public:
  // Memory for the records of all chunks beyond ChunkHeader::kMemoryPerByte: a file cannot make a
  // reader allocate much more than it holds.
  static constexpr std::uint64_t kMemoryAllowance = 32u << 20;

  // Throws TraceError (Io, NotATrace, WrongVersion) with the path.
  explicit TraceReader(std::filesystem::path path);
  TraceReader& operator=(const TraceReader&) = delete;
  ~TraceReader();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<ChunkEntry>& chunks() const noexcept { return chunks_; }
  // Mode and group of the file, for files that are derived from it.
  [[nodiscard]] detail::FileAccess access() const noexcept { return detail::access_of(file_); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return indexed_; }  // of complete chunks
  // Bytes after the last complete chunk; 0 for a file that was closed properly.
  [[nodiscard]] std::uint64_t trailing_bytes() const noexcept { return trailing_bytes_; }
  // Why the index ends before the end of the file; empty if it does not.
  [[nodiscard]] const std::string& damage() const noexcept { return damage_; }

  [[nodiscard]] Records read(const ChunkEntry& entry) const;  // throws TraceError
  // Indexes the chunks appended since the last call; returns their number.
  std::size_t refresh();
  // A reader of the same open file with an up-to-date index that starts with this reader's entries;
  // an alternative to refresh() while other threads read. Null: the file no longer starts with the
  // indexed chunks because it was truncated or replaced. Throws TraceError (Io).
  [[nodiscard]] std::shared_ptr<TraceReader> follow() const;

 private:
  TraceReader(const TraceReader& earlier);  // for follow()
  [[nodiscard]] bool is_unchanged() const;  // the indexed part is unchanged on disk

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t indexed_ = 0;  // bytes covered by the index
  std::uint64_t trailing_bytes_ = 0;
  std::string damage_;
  std::vector<ChunkEntry> chunks_;
};

}  // namespace reprise::trace
