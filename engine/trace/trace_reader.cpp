#include "trace/trace_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

// Returns the number of bytes read; fewer than `bytes` only at the end of the file.
std::size_t read_at(int file, std::uint64_t offset, std::uint8_t* out, std::size_t bytes,
                    const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pread(file, out + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_io_error(path, "cannot read");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

constexpr std::uint64_t kMinAllowance = 64u << 10;

std::uint64_t size_of(int file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) throw_io_error(path, "cannot read the size");
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

TraceReader::TraceReader(std::filesystem::path path) : path_(std::move(path)) {
  // O_NONBLOCK: the open of a pipe would wait for a writer.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) throw_io_error(path_, "cannot open");
  try {
    struct stat status {};
    if (::fstat(file_, &status) == 0 && !S_ISREG(status.st_mode)) {
      throw TraceError(TraceErrorCode::NotATrace, S_ISDIR(status.st_mode)
                                                      ? "is a directory"
                                                      : "not a regular file; copy it to one first");
    }
    std::array<std::uint8_t, kPreambleBytes> preamble{};
    if (read_at(file_, 0, preamble.data(), preamble.size(), path_) < preamble.size()) {
      throw TraceError(TraceErrorCode::NotATrace, "too short for a Reprise trace");
    }
    check_preamble(preamble);
    indexed_ = kPreambleBytes;
    refresh();
  } catch (const TraceError& error) {
    ::close(file_);
    throw TraceError(error.code(), error.code() == TraceErrorCode::Io
                                       ? error.what()
                                       : path_.string() + ": " + error.what());
  } catch (...) {
    ::close(file_);
    throw;
  }
}

TraceReader::TraceReader(const TraceReader& earlier)
    : path_(earlier.path_), indexed_(earlier.indexed_), chunks_(earlier.chunks_) {
  file_ = ::fcntl(earlier.file_, F_DUPFD_CLOEXEC, 0);  // last: nothing throws while it has no owner
  if (file_ < 0) throw_io_error(path_, "cannot open again");
}

TraceReader::~TraceReader() { ::close(file_); }

std::shared_ptr<TraceReader> TraceReader::follow() const {
  if (!is_unchanged()) return nullptr;
  const std::shared_ptr<TraceReader> next(new TraceReader(*this));
  next->refresh();
  return next;
}

// Compares the last indexed header: its times, sequence and checksum identify the trace.
bool TraceReader::is_unchanged() const {
  if (size_of(file_, path_) < indexed_) return false;
  if (chunks_.empty()) return true;
  std::array<std::uint8_t, ChunkHeader::kBytes> bytes{};
  return read_at(file_, chunks_.back().offset, bytes.data(), bytes.size(), path_) == bytes.size() &&
         bytes == encode_header(chunks_.back().header);
}

std::size_t TraceReader::refresh() {
  const std::uint64_t size = size_of(file_, path_);
  const std::size_t before = chunks_.size();
  damage_.clear();
  while (indexed_ + ChunkHeader::kBytes <= size) {
    std::array<std::uint8_t, ChunkHeader::kBytes> bytes{};
    if (read_at(file_, indexed_, bytes.data(), bytes.size(), path_) < bytes.size()) break;
    ChunkEntry entry{indexed_, {}};
    try {
      entry.header = decode_header(bytes);
    } catch (const TraceError& error) {
      damage_ = "at byte " + std::to_string(indexed_) + ": " + error.what();
      break;
    }
    const std::uint64_t end = indexed_ + ChunkHeader::kBytes + entry.header.compressed_bytes;
    if (end > size) {
      damage_ = "the last chunk is truncated";
      break;
    }
    chunks_.push_back(entry);
    indexed_ = end;
  }
  trailing_bytes_ = size > indexed_ ? size - indexed_ : 0;
  if (trailing_bytes_ != 0 && damage_.empty()) damage_ = "the last chunk is truncated";
  return chunks_.size() - before;
}

Records TraceReader::read(const ChunkEntry& entry) const {
  // The size in the entry was checked against the size of the file.
  std::vector<std::uint8_t> payload(entry.header.compressed_bytes);
  if (read_at(file_, entry.offset + ChunkHeader::kBytes, payload.data(), payload.size(), path_) <
      payload.size()) {
    throw TraceError(TraceErrorCode::Corrupt,
                     path_.string() + ": the file was truncated while it was read");
  }
  try {
    // At least 64 KiB, so that the index of a long trace cannot use the allowance up.
    const std::uint64_t allowance =
        std::max(kMemoryAllowance / std::max<std::size_t>(chunks_.size(), 1), kMinAllowance);
    return read_chunk(entry.header, payload, allowance);
  } catch (const TraceError& error) {
    throw TraceError(error.code(), path_.string() + ": " + error.what() + " (chunk at byte " +
                                       std::to_string(entry.offset) + ")");
  }
}

}  // namespace reprise::trace
