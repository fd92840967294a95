#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

namespace reprise::detail {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr int kMaxAttempts = 1000;

// Unique among the threads of all processes that write to the same path.
std::filesystem::path temporary_path(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.string() + "." + std::to_string(::getpid()) + "-" +
         std::to_string(counter.fetch_add(1, std::memory_order_relaxed)) + ".partial";
}

}  // namespace

FileError::FileError(const std::filesystem::path& path, std::error_code code)
    : FileError(path, code, code.message()) {}

FileError::FileError(const std::filesystem::path& path, std::error_code code,
                     const std::string& reason)
    : std::runtime_error("cannot write " + path.string() + ": " + reason), code_(code) {}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw FileError(path_, std::make_error_code(std::errc::invalid_argument),
                    "it exists and is not a regular file");
  }
  // A process with the same id may have left files behind. O_EXCL also refuses links that somebody
  // else put there.
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = temporary_path(path_);
    descriptor_ =
        ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || attempt == kMaxAttempts)) fail();
  }
  if (std::filesystem::exists(status))
    ::fchmod(descriptor_, static_cast<mode_t>(status.permissions() & std::filesystem::perms::mask));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::fail() const { throw FileError(path_, {errno, std::generic_category()}); }

void AtomicFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::flush() {
  for (std::string_view rest = buffer_; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void AtomicFile::replace() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
}

void AtomicFile::commit() {
  flush();
  // EINVAL and EROFS: the file system does not support synchronisation.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail();
  // Network file systems may report a full disk only on close.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
  replace();
}

int AtomicFile::commit_open() {
  flush();
  replace();
  return std::exchange(descriptor_, -1);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace reprise::detail
