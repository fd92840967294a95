#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
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

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

FileAccess access_of(const struct stat& status) { return {status.st_mode & 0777, status.st_gid}; }

// The descriptor of this process that `link`, in /proc/PID/fd, names; -1: none.
int own_descriptor(const std::filesystem::path& link) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(folder_of(link), error);
  if (error || folder != "/proc/" + std::to_string(::getpid()) + "/fd") return -1;
  const std::string number = link.filename().string();
  int descriptor = -1;
  std::from_chars(number.data(), number.data() + number.size(), descriptor);
  return descriptor;
}

// The rule of the operating system (protected_symlinks) for links that another user may have put
// where a program is expected to write, such as /tmp.
bool may_follow(const std::filesystem::path& path, const struct stat& link) {
  struct stat folder {};
  if (::stat(folder_of(path).c_str(), &folder) != 0) return false;
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return !is_shared || link.st_uid == ::geteuid() || link.st_uid == folder.st_uid;
}

gid_t group_of_new_file(const std::filesystem::path& folder) {
  struct stat status {};
  const bool inherits = ::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_ISGID) != 0;
  return inherits ? status.st_gid : ::getegid();
}

// The bits of `mode` that no source lacks, in a file of `group`. Members of another group than the
// source's may be members of both or of neither.
mode_t limited(mode_t mode, const std::vector<FileAccess>& sources, gid_t group) {
  for (const FileAccess& source : sources) {
    const mode_t of_group = source.mode >> 3 & 07, of_others = source.mode & 07;
    const mode_t of_both = of_group & of_others;
    mode &=
        source.group == group ? 0700 | of_group << 3 | of_others : 0700 | of_both << 3 | of_both;
  }
  return mode;
}

}  // namespace

FileError::FileError(const std::filesystem::path& path, std::error_code code)
    : FileError(path, code, code.message()) {}

FileError::FileError(const std::filesystem::path& path, std::error_code code,
                     const std::string& reason)
    : std::runtime_error("cannot write " + path.string() + ": " + reason), code_(code) {}

FileAccess access_of(const std::filesystem::path& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? access_of(status) : kOwnerOnly;
}

FileAccess access_of(int descriptor) noexcept {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? access_of(status) : kOwnerOnly;
}

AtomicFile::AtomicFile(std::filesystem::path path, const AtomicFileDesc& desc)
    : path_(std::move(path)), max_bytes_(desc.max_bytes), limit_(desc.limit) {
  target_ = follow_links();
  if (descriptor_ >= 0) return;
  struct stat named {};
  const bool exists = ::stat(path_.c_str(), &named) == 0;
  if (exists && (S_ISFIFO(named.st_mode) || S_ISCHR(named.st_mode))) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail();
    return;
  }
  if (exists && !S_ISREG(named.st_mode)) {
    fail(std::errc::invalid_argument,
         S_ISDIR(named.st_mode) ? "it is a directory, not a regular file"
                                : "it exists and is not a regular file, a pipe or a terminal");
  }
  // A link in /proc to a file that was removed does not contain a path.
  if (exists && target_ != path_ && !std::filesystem::exists(target_))
    fail(std::errc::no_such_file_or_directory, "the file that it leads to has no path");
  create(desc.sources);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail() const {
  const std::error_code code(errno, std::generic_category());
  throw FileError(path_, code,
                  code.message() + (target_ == path_ || target_.empty()
                                        ? std::string()
                                        : " (it is a link to " + target_.string() + ")"));
}

void AtomicFile::fail(std::errc code, const std::string& reason) const {
  throw FileError(path_, std::make_error_code(code), reason);
}

// Returns the path without links in its last component. Opens the descriptor if a link leads to an
// open one of this process, which a shell may have redirected to a file: its position counts.
std::filesystem::path AtomicFile::follow_links() {
  constexpr int kMaxLinks = 40;  // as the operating system
  std::filesystem::path at = path_;
  for (int links = 0;; ++links) {
    struct stat link {};
    if (::lstat(at.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return at;
    if (links == kMaxLinks)
      fail(std::errc::too_many_symbolic_link_levels, "it is a link that leads to itself");
    if (const int own = own_descriptor(at); own >= 0) {
      descriptor_ = ::fcntl(own, F_DUPFD_CLOEXEC, 0);
      if (descriptor_ < 0) fail();
      return at;
    }
    if (!may_follow(at, link)) {
      fail(std::errc::permission_denied,
           at.string() + " is a link of another user in a folder that everybody can write to");
    }
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) throw FileError(path_, error);
    at = at.parent_path() / next;  // `next` if that is absolute
  }
}

void AtomicFile::create(const std::vector<FileAccess>& sources) {
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  const gid_t group = group_of_new_file(folder_of(target_));
  const mode_t mode = exists ? 0600 : limited(0666, sources, group);
  // A process with the same id may have left files behind. O_EXCL also refuses links that somebody
  // else put there.
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = temporary_path(target_);
    descriptor_ =
        ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor_ >= 0) break;
    const int error = errno;
    temporary_.clear();
    errno = error;
    if (error != EEXIST || attempt == kMaxAttempts) fail();
  }
  if (exists && access_of(descriptor_).group != status.st_gid) {
    // Fails for a group that this user is not in; the group then loses its permissions.
    [[maybe_unused]] const int ignored =
        ::fchown(descriptor_, static_cast<uid_t>(-1), status.st_gid);
  }
  const FileAccess made = access_of(descriptor_);
  const mode_t allowed = exists ? limited(limited(status.st_mode & 0777, sources, made.group),
                                          {access_of(status)}, made.group)
                                : limited(made.mode, sources, made.group);
  if (allowed == made.mode || ::fchmod(descriptor_, allowed) == 0) return;
  const int error = errno;
  ::close(descriptor_);  // the destructor does not run
  ::unlink(temporary_.c_str());
  errno = error;
  fail();
}

const std::filesystem::path& AtomicFile::temporary() const {
  if (temporary_.empty()) fail(std::errc::invalid_seek, "this format requires a regular file");
  return temporary_;
}

void AtomicFile::count(std::uint64_t bytes) {
  if (bytes > max_bytes_ - bytes_) {
    fail(std::errc::file_too_large,
         "it would exceed " + std::to_string(max_bytes_) + " bytes, the limit of " + limit_);
  }
  bytes_ += bytes;
}

void AtomicFile::write(std::string_view text) {
  count(text.size());
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
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
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
  static_cast<void>(temporary());
  flush();
  replace();
  return std::exchange(descriptor_, -1);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view contents,
                           const AtomicFileDesc& desc) {
  AtomicFile file(path, desc);
  file.write(contents);
  file.commit();
}

}  // namespace reprise::detail
