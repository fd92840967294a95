#include "trace/trace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/atomic_file.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::trace {

namespace {

struct Descriptor {
  int number;
  explicit Descriptor(int descriptor) : number(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

void read_exactly(int file, std::uint64_t offset, std::vector<std::uint8_t>& out,
                  const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(file, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error(path, "cannot read");
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

TraceFile::TraceFile(TraceFileDesc desc) : desc_(std::move(desc)) {
  if (desc_.max_bytes != 0 && desc_.max_bytes < kMinMaxBytes) {
    throw TraceError(TraceErrorCode::TooLarge,
                     desc_.path.string() + ": a limit of " + std::to_string(desc_.max_bytes) +
                         " bytes is too small; the minimum is " + std::to_string(kMinMaxBytes));
  }
  desc_.start == TraceFileDesc::Start::Append ? resume() : create();
}

TraceFile::~TraceFile() {
  if (file_ >= 0) ::close(file_);
}

void TraceFile::create() {
  file_ = ::open(desc_.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file_ < 0) throw_io_error(desc_.path, "cannot create");
  const auto preamble = encode_preamble();
  append_bytes(preamble.data(), preamble.size());
}

void TraceFile::resume() {
  const TraceReader before(desc_.path);
  Descriptor file{::open(desc_.path.c_str(), O_RDWR | O_CLOEXEC)};
  if (file.number < 0) throw_io_error(desc_.path, "cannot append");
  std::uint64_t end = kPreambleBytes;
  for (const ChunkEntry& entry : before.chunks()) {
    end = entry.offset + ChunkHeader::kBytes + entry.header.compressed_bytes;
    next_sequence_ = entry.header.sequence + 1;
    if (desc_.max_bytes == 0) continue;
    auto chunk = std::make_shared<Chunk>(
        Chunk{entry.header, std::vector<std::uint8_t>(entry.header.compressed_bytes)});
    read_exactly(file.number, entry.offset + ChunkHeader::kBytes, chunk->payload, desc_.path);
    kept_.push_back(std::move(chunk));
  }
  if (::ftruncate(file.number, static_cast<off_t>(end)) != 0 ||
      ::lseek(file.number, static_cast<off_t>(end), SEEK_SET) < 0) {
    throw_io_error(desc_.path, "cannot append");
  }
  bytes_ = end;
  file_ = std::exchange(file.number, -1);
}

void TraceFile::append_bytes(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  std::size_t remaining = bytes;
  while (remaining > 0) {
    const ssize_t n = ::write(file_, at, remaining);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int reason = errno;
      // A partial chunk would hide all later chunks: remove it.
      if (::ftruncate(file_, static_cast<off_t>(bytes_)) == 0)
        ::lseek(file_, static_cast<off_t>(bytes_), SEEK_SET);
      errno = reason;
      throw_io_error(desc_.path, "cannot write");
    }
    at += n;
    remaining -= static_cast<std::size_t>(n);
  }
  bytes_ += bytes;
}

void TraceFile::append(const Chunk& chunk) {
  std::vector<std::uint8_t> whole(chunk.size());
  const auto header = encode_header(chunk.header);
  std::memcpy(whole.data(), header.data(), header.size());
  if (!chunk.payload.empty())
    std::memcpy(whole.data() + header.size(), chunk.payload.data(), chunk.payload.size());
  append_bytes(whole.data(), whole.size());
}

void TraceFile::write(const std::shared_ptr<const Chunk>& chunk) {
  if (desc_.max_bytes == 0) {
    append(*chunk);
    return;
  }
  const bool fits = bytes_ + chunk->size() <= desc_.max_bytes;
  if (!fits && desc_.keep == TraceFileDesc::Keep::First &&
      chunk->header.kind != ChunkKind::Topology) {
    ++dropped_;
    return;
  }
  kept_.push_back(chunk);
  if (fits || desc_.keep == TraceFileDesc::Keep::First) {
    append(*chunk);
  } else {
    rewrite();
  }
}

// Drops the oldest events and samples down to half the limit, so that a rewrite occurs only once
// per half file.
void TraceFile::rewrite() {
  std::uint64_t total = kPreambleBytes;
  for (const auto& c : kept_) total += c->size();
  std::deque<std::shared_ptr<const Chunk>> kept;
  for (const auto& c : kept_) {
    if (c->header.kind != ChunkKind::Topology && total > desc_.max_bytes / 2 && c != kept_.back()) {
      total -= c->size();
      ++dropped_;
    } else {
      kept.push_back(c);
    }
  }
  kept_ = std::move(kept);
  try {
    detail::AtomicFile file(desc_.path);
    const auto preamble = encode_preamble();
    file.write(std::as_bytes(std::span(preamble)));
    for (const auto& c : kept_) {
      const auto header = encode_header(c->header);
      file.write(std::as_bytes(std::span(header)));
      file.write(std::as_bytes(std::span(c->payload)));
    }
    const int descriptor = file.commit_open();
    ::close(file_);
    file_ = descriptor;
    bytes_ = total;
  } catch (const detail::FileError& error) {
    throw TraceError(TraceErrorCode::Io, error.what());
  }
}

void TraceFile::flush() {
  if (::fdatasync(file_) != 0 && errno != EINVAL && errno != EROFS)
    throw_io_error(desc_.path, "cannot flush");
}

}  // namespace reprise::trace
