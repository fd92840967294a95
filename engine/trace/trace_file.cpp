#include "trace/trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/atomic_file.hpp"
#include "trace/topology_state.hpp"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

// Closed on destruction.
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

enum class Lock : std::uint8_t { Taken, InUse };

// A file system without locks takes every lock.
Lock lock(int file, int kind, const std::filesystem::path& path) {
  while (::flock(file, kind | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Lock::InUse;
    if (errno == ENOSYS || errno == ENOLCK || errno == EOPNOTSUPP) return Lock::Taken;
    if (errno != EINTR) throw_io_error(path, "cannot lock");
  }
  return Lock::Taken;
}

bool is_file_at(int file, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// The descriptor of the locked file. -1: another TraceFile has locked it. Devices and pipes are not
// locked.
int open_locked(const TraceFileDesc& desc) {
  const std::filesystem::path& path = desc.path;
  const bool append = desc.start == TraceFileDesc::Start::Append;
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | (append ? 0 : O_CREAT) | O_CLOEXEC, 0600));
    if (file.number < 0) throw_io_error(path, append ? "cannot append" : "cannot create");
    struct stat status {};
    if (::fstat(file.number, &status) == 0 && S_ISREG(status.st_mode)) {
      if (lock(file.number, LOCK_EX, path) == Lock::InUse) return -1;
      // The previous owner of the lock may have replaced or removed the file.
      if (!is_file_at(file.number, path)) continue;
    }
    return std::exchange(file.number, -1);
  }
}

}  // namespace

std::filesystem::path rank_path(const std::filesystem::path& path, std::uint32_t rank,
                                std::uint32_t ranks) {
  if (ranks <= 1) return path;
  std::string number = std::to_string(rank);
  number.insert(0, std::to_string(ranks - 1).size() - number.size(), '0');
  std::filesystem::path named = path;
  named.replace_filename(path.stem().string() + ".rank" + number + path.extension().string());
  return named;
}

bool is_being_written(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file.number >= 0 && lock(file.number, LOCK_SH, path) == Lock::InUse;
}

TraceFile::TraceFile(TraceFileDesc desc) : desc_(std::move(desc)) {
  if (desc_.max_bytes != 0 && desc_.max_bytes < kMinMaxBytes) {
    throw TraceError(TraceErrorCode::TooLarge,
                     desc_.path.string() + ": a limit of " + std::to_string(desc_.max_bytes) +
                         " bytes is too small; the minimum is " + std::to_string(kMinMaxBytes));
  }
  Descriptor file(open_locked(desc_));
  if (file.number < 0) {
    desc_.path += "." + std::to_string(::getpid());
    desc_.start = TraceFileDesc::Start::Replace;
    file.number = open_locked(desc_);
  }
  if (file.number < 0)
    throw TraceError(TraceErrorCode::Io, desc_.path.string() + ": another process is writing it");
  desc_.start == TraceFileDesc::Start::Append ? resume(file.number) : create(file.number);
  file_ = std::exchange(file.number, -1);
}

TraceFile::~TraceFile() {
  if (file_ < 0) return;
  // A forked child may have inherited the descriptor, and with it the lock.
  ::flock(file_, LOCK_UN);
  ::close(file_);
}

void TraceFile::create(int file) {
  if (::ftruncate(file, 0) != 0 && errno != EINVAL)  // EINVAL: a device or a pipe
    throw_io_error(desc_.path, "cannot create");
  const auto preamble = encode_preamble();
  append_bytes(file, preamble.data(), preamble.size());
}

void TraceFile::resume(int file) {
  const TraceReader before(desc_.path);
  std::uint64_t end = kPreambleBytes;
  for (const ChunkEntry& entry : before.chunks()) {
    end = entry.offset + ChunkHeader::kBytes + entry.header.compressed_bytes;
    next_sequence_ = entry.header.sequence + 1;
    if (desc_.max_bytes != 0) kept_.push_back(entry);
  }
  if (::ftruncate(file, static_cast<off_t>(end)) != 0 ||
      ::lseek(file, static_cast<off_t>(end), SEEK_SET) < 0) {
    throw_io_error(desc_.path, "cannot append");
  }
  bytes_ = end;
}

void TraceFile::append_bytes(int file, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  std::size_t remaining = bytes;
  while (remaining > 0) {
    const ssize_t n = ::write(file, at, remaining);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int reason = errno;
      // A partial chunk would hide all later chunks: remove it.
      if (::ftruncate(file, static_cast<off_t>(bytes_)) == 0)
        ::lseek(file, static_cast<off_t>(bytes_), SEEK_SET);
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
  append_bytes(file_, whole.data(), whole.size());
}

void TraceFile::write(const std::shared_ptr<const Chunk>& chunk) {
  if (chunk->header.kind == ChunkKind::Contents) make_private();
  desc_.max_bytes == 0 ? append(*chunk) : write_limited(*chunk);
}

// Devices and pipes keep their mode.
void TraceFile::make_private() const {
  struct stat about {};
  if (::fstat(file_, &about) == 0 && !S_ISREG(about.st_mode)) return;
  if (::fchmod(file_, S_IRUSR | S_IWUSR) == 0) return;
  throw TraceError(TraceErrorCode::Io, desc_.path.string() + ": cannot be made private for data: " +
                                           std::strerror(errno));
}

void TraceFile::write_limited(const Chunk& chunk) {
  // With Keep::First, nothing follows a dropped chunk, which it might refer to.
  const bool fits = dropped_ == 0 || desc_.keep == TraceFileDesc::Keep::Last;
  if (fits && bytes_ + chunk.size() <= desc_.max_bytes) {
    kept_.push_back({bytes_, chunk.header});
    append(chunk);
  } else if (desc_.keep == TraceFileDesc::Keep::First) {
    ++dropped_;
  } else {
    rewrite(chunk);
  }
}

std::shared_ptr<const Chunk> TraceFile::read(const ChunkEntry& entry) const {
  auto chunk = std::make_shared<Chunk>(
      Chunk{entry.header, std::vector<std::uint8_t>(entry.header.compressed_bytes)});
  read_exactly(file_, entry.offset + ChunkHeader::kBytes, chunk->payload, desc_.path);
  return chunk;
}

// Drops the oldest chunks down to half the limit, so that a rewrite occurs only once per half file.
// The topology among them is replaced by its latest state.
void TraceFile::rewrite(const Chunk& newest) {
  const std::uint64_t target = desc_.max_bytes / 2;
  const auto size_of = [](const ChunkEntry& entry) {
    return ChunkHeader::kBytes + entry.header.compressed_bytes;
  };
  std::uint64_t rest = kPreambleBytes + newest.size(), state_bytes = 0, sequence = 0;
  for (const ChunkEntry& entry : kept_) rest += size_of(entry);
  TopologyState state;
  std::vector<std::shared_ptr<const Chunk>> topology;
  while (!kept_.empty() && rest + state_bytes > target) {
    do {
      const ChunkEntry entry = kept_.front();
      kept_.pop_front();
      rest -= size_of(entry);
      sequence = entry.header.sequence;
      if (entry.header.kind == ChunkKind::Topology) {
        state.add(read_chunk(entry.header, read(entry)->payload));
      } else {
        ++dropped_;
      }
    } while (!kept_.empty() && rest + state_bytes > target);
    topology = state.chunks(sequence, target);
    state_bytes = 0;
    for (const auto& chunk : topology) state_bytes += chunk->size();
  }
  try {
    detail::AtomicFile file(desc_.path, {.sources = {detail::access_of(file_)}});
    static_cast<void>(file.temporary());  // throws for a pipe, before anything is written
    std::deque<ChunkEntry> kept;
    std::uint64_t bytes = 0;
    const auto put = [&](const auto& part) {
      file.write(std::as_bytes(std::span(part)));
      bytes += part.size();
    };
    const auto put_chunk = [&](const Chunk& chunk) {
      kept.push_back({bytes, chunk.header});
      put(encode_header(chunk.header));
      put(chunk.payload);
    };
    put(encode_preamble());
    for (const auto& chunk : topology) put_chunk(*chunk);
    for (const ChunkEntry& entry : kept_) put_chunk(*read(entry));
    put_chunk(newest);
    lock(file.descriptor(), LOCK_EX, desc_.path);
    const int descriptor = file.commit_open();
    ::close(file_);
    file_ = descriptor;
    bytes_ = bytes;
    kept_ = std::move(kept);
  } catch (const detail::FileError& error) {
    throw TraceError(TraceErrorCode::Io, error.what());
  }
}

void TraceFile::flush() {
  if (::fdatasync(file_) != 0 && errno != EINVAL && errno != EROFS)
    throw_io_error(desc_.path, "cannot flush");
}

}  // namespace reprise::trace
