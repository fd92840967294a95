#include "model/source_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace reprise::model {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 8 << 20, kMaxLine = 500;  // read of a file; kept of a line

// Both normal, as far as they are written.
bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [in_folder, in_file] =
      std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  // "/src/" ends in an empty component.
  return in_file != file.end() && (in_folder == folder.end() || in_folder->empty());
}

fs::path place_of(const std::string& file, const fs::path& folder) {
  return (folder / file).lexically_normal();  // an absolute file stays as it is
}

class OpenFile {
 public:
  // Without waiting for the writer of a pipe.
  explicit OpenFile(const fs::path& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }
  [[nodiscard]] bool is_regular() const noexcept {
    struct stat info {};
    return ::fstat(file_, &info) == 0 && S_ISREG(info.st_mode);
  }
  // Without symbolic links; empty: unknown.
  [[nodiscard]] fs::path real_path() const {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/fd/" + std::to_string(file_), ignored);
  }
  [[nodiscard]] std::string read() const {
    std::string text(kMaxBytes, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
      const ssize_t count = ::read(file_, text.data() + size, text.size() - size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    return text;
  }

 private:
  int file_;
};

// Empty: the file has fewer lines.
SourceLines lines_around(const std::string& text, std::uint32_t line, std::uint32_t around) {
  SourceLines found{.first = line > around ? line - around : 1};
  std::size_t at = 0;
  for (std::uint32_t number = 1; at < text.size() && number <= line + around; ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (number >= found.first) {
      std::string shown = text.substr(at, std::min(end - at, kMaxLine));
      if (shown.ends_with('\r')) shown.pop_back();
      for (std::size_t tab = 0; (tab = shown.find('\t', tab)) != std::string::npos;)
        shown.replace(tab, 1, "  ");
      found.lines.push_back(std::move(shown));
    }
    at = end + 1;
  }
  if (found.first + found.lines.size() <= line) found.lines.clear();
  return found;
}

}  // namespace

bool is_source_allowed(const SourceLocation& location, std::span<const std::string> folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path folder) {
    return folder.is_absolute() &&
           is_below(place_of(location.file, folder), folder.lexically_normal());
  });
}

SourceLines read_source_lines(const SourceLocation& location, std::span<const std::string> folders,
                              std::uint32_t around) {
  SourceLines none{.error = location.file + " is not below an allowed folder"};
  for (const std::string& folder : folders) {
    if (!is_source_allowed(location, {&folder, 1})) continue;
    const fs::path path = place_of(location.file, folder);
    const OpenFile file(path);
    if (!file.is_open()) {
      none.error = "cannot read " + path.string() + ": " + std::strerror(errno);
      continue;
    }
    std::error_code error;
    const fs::path real_folder = fs::canonical(folder, error);
    if (error || !is_below(file.real_path(), real_folder)) {
      none.error = path.string() + " leads out of the allowed folder " + folder;
      continue;
    }
    if (!file.is_regular()) {
      none.error = path.string() + " is not a regular file";
      continue;
    }
    SourceLines found = lines_around(file.read(), location.line, around);
    if (!found.lines.empty()) return found;
    none.error = path.string() + " has no line " + std::to_string(location.line);
  }
  return none;
}

}  // namespace reprise::model
