#include "trace/live/session_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

// A socket address holds 107 bytes; the file name takes at most 51.
constexpr std::size_t kMaxFolderBytes = 54;
constexpr std::size_t kMaxApplicationBytes = 32;
constexpr std::string_view kSuffix = ".sock";

// $XDG_RUNTIME_DIR/reprise if the user owns the folder and other users cannot write to it; empty
// otherwise.
std::filesystem::path runtime_folder() {
  const char* value = ::secure_getenv("XDG_RUNTIME_DIR");
  if (value == nullptr || value[0] != '/') return {};
  struct stat status {};
  if (::stat(value, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 022) != 0)
    return {};
  const std::filesystem::path path = std::filesystem::path(value) / "reprise";
  return path.native().size() <= kMaxFolderBytes ? path : std::filesystem::path();
}

std::filesystem::path fallback_folder() { return "/tmp/reprise-" + std::to_string(::geteuid()); }

// Why the folder is not private; empty if it is. Does not follow symbolic links.
std::string objection(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "not a folder";
  if (status.st_uid != ::geteuid()) return "belongs to another user";
  if ((status.st_mode & 077) != 0) return "other users may enter it (its mode must be 0700)";
  return {};
}

}  // namespace

std::filesystem::path make_session_folder() {
  std::filesystem::path path = runtime_folder();
  if (path.empty()) path = fallback_folder();
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw_io_error(path, "cannot create the folder of live sessions");
  const std::string wrong = objection(path);
  if (!wrong.empty())
    throw TraceError(TraceErrorCode::Io,
                     path.string() + ": not a private folder for live sessions: " + wrong);
  return path;
}

std::vector<std::filesystem::path> session_folders() {
  std::vector<std::filesystem::path> out;
  for (const auto& path : {runtime_folder(), fallback_folder()}) {
    if (!path.empty() && objection(path).empty()) out.push_back(path);
  }
  return out;
}

std::uint32_t job_number(std::string_view job) noexcept {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : job) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619u;
  return hash;
}

std::string session_file_name(const SessionName& session, unsigned number) {
  char rank[32] = "";
  if (session.rank != kNone)
    std::snprintf(rank, sizeof rank, ".rank%u-%08x", session.rank, session.job);
  std::string name = session.application.substr(0, kMaxApplicationBytes - std::strlen(rank));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_');
      },
      '_');
  if (name.empty()) name = "unnamed";
  return std::to_string(session.pid) + '-' + name + rank +
         (number > 1 ? '.' + std::to_string(number) : std::string()) + std::string(kSuffix);
}

std::optional<SessionName> parse_session_file_name(std::string_view name) {
  SessionName out;
  if (!name.ends_with(kSuffix)) return {};
  name.remove_suffix(kSuffix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out.pid);
  const auto digits = static_cast<std::size_t>(end - name.data());
  if (error != std::errc{} || digits + 1 >= name.size() || name[digits] != '-' || out.pid == 0)
    return {};
  name.remove_prefix(digits + 1);
  out.application = name.substr(0, name.find('.'));
  constexpr std::string_view kRank = ".rank";
  name.remove_prefix(out.application.size());
  if (!name.starts_with(kRank)) return out;
  const char* const stop = name.data() + name.size();
  const auto [dash, no_rank] = std::from_chars(name.data() + kRank.size(), stop, out.rank);
  if (no_rank != std::errc{} || dash == stop || *dash != '-' ||
      std::from_chars(dash + 1, stop, out.job, 16).ec != std::errc{})
    return {};
  return out;
}

}  // namespace reprise::trace
