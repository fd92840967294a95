#include "trace/export/pending_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "trace/export/export_error.hpp"

namespace reprise::trace {

namespace {

constexpr std::size_t kBufferBytes = 1u << 20;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw ExportError("cannot write " + path.string() + ": " + reason);
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path path)
    : path_(std::move(path)),
      temporary_(path_.string() + "." + std::to_string(::getpid()) + ".partial") {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    refuse(path_, "it is there and no file");
}

PendingFile::~PendingFile() {
  std::error_code ignored;
  if (!committed_) std::filesystem::remove(temporary_, ignored);
}

void PendingFile::commit() {
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) refuse(path_, error.message());
  committed_ = true;
}

PendingText::PendingText(std::filesystem::path path) : file_(std::move(path)) {
  descriptor_ = ::open(file_.temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) refuse(file_.path(), std::strerror(errno));
  buffer_.reserve(kBufferBytes);
}

PendingText::~PendingText() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PendingText::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void PendingText::flush() {
  for (std::string_view left = buffer_; !left.empty();) {
    const ssize_t n = ::write(descriptor_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(file_.path(), std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
}

void PendingText::commit() {
  flush();
  // A disk over a network may say only now that it is full.
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse(file_.path(), std::strerror(errno));
  file_.commit();
}

}  // namespace reprise::trace
