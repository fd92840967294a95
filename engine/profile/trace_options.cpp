#include "profile/trace_options.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "profile/process_info.hpp"
#include "trace/live/tcp_address.hpp"

namespace reprise::detail {

namespace {

constexpr std::string_view kTargetSyntax =
    "live, FILE[,max=SIZE][,keep=last|first] or live,FILE..., where SIZE is bytes or a number with "
    "k, M or G";

[[noreturn]] void refuse(const std::string& text) {
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Open;
  throw Error(std::move(details), text);
}

std::string_view environment(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The origin of a target, for error messages.
struct Source {
  std::string_view name, value;
  [[noreturn]] void refuse(std::string_view why) const {
    detail::refuse(concat(name, " is \"", value, "\": ", why, "; use ", kTargetSyntax));
  }
};

// 0: invalid.
std::uint64_t parse_size(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K': unit = std::uint64_t{1} << 10; break;
      case 'm':
      case 'M': unit = std::uint64_t{1} << 20; break;
      case 'g':
      case 'G': unit = std::uint64_t{1} << 30; break;
      default: break;
    }
    if (unit != 1) text.remove_suffix(1);
  }
  if (text.empty()) return 0;
  std::uint64_t size = 0;
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const char c : text) {
    if (c < '0' || c > '9' || size > (kLargest - 9) / 10) return 0;
    size = size * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return size > kLargest / unit ? 0 : size * unit;
}

void apply_option(trace::TraceFileDesc& file, const Source& source, std::string_view option,
                  bool& has_keep) {
  if (option.starts_with("max=")) {
    const std::string_view size = option.substr(4);
    file.max_bytes = parse_size(size);
    if (file.max_bytes == 0) source.refuse(concat("\"", size, "\" is not a size"));
    if (file.max_bytes < trace::TraceFile::kMinMaxBytes) {
      source.refuse(concat("max=", size, " is too small; the minimum is ",
                           trace::TraceFile::kMinMaxBytes >> 10, "k"));
    }
  } else if (option == "keep=last" || option == "keep=first") {
    file.keep = option == "keep=last" ? trace::TraceFileDesc::Keep::Last
                                      : trace::TraceFileDesc::Keep::First;
    has_keep = true;
  } else {
    source.refuse(concat("\"", option, "\" is not an option"));
  }
}

// Parses "FILE[,option]...".
trace::TraceFileDesc parse_file(const Source& source, std::string_view text) {
  const std::size_t end = text.find(',');
  const std::string_view path = text.substr(0, end);
  if (path.empty()) source.refuse("the file name is missing");
  trace::TraceFileDesc file;
  file.path = std::filesystem::absolute(path).lexically_normal();
  if (const auto environment = launched_environment())
    file.path = trace::rank_path(file.path, environment->rank, environment->size);
  bool has_keep = false;
  for (std::size_t at = end; at != std::string_view::npos;) {
    const std::size_t next = text.find(',', at + 1);
    apply_option(file, source,
                 text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1),
                 has_keep);
    at = next;
  }
  if (has_keep && file.max_bytes == 0) source.refuse("keep= needs max=");
  return file;
}

constexpr std::string_view kLive = "live";

// Whether the text is meant as `live`, but written as another tool would, such as "live:7777" or
// "LIVE": a file of that name is not.
bool resembles_live(std::string_view text) {
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  const std::string_view head = text.substr(0, kLive.size()), rest = text.substr(head.size());
  return text != kLive &&
         std::equal(head.begin(), head.end(), kLive.begin(), kLive.end(), is_same) &&
         (rest.empty() || std::string_view(",:=;+ ").find(rest.front()) != std::string_view::npos);
}

TraceOptions parse_target(const Source& source) {
  TraceOptions options;
  std::string_view file = source.value;
  if (file == kLive || file.starts_with("live,")) {
    options.live.emplace();
    file.remove_prefix(std::min(file.size(), kLive.size() + 1));
    if (file.empty() && source.value != kLive) source.refuse("the file name is missing");
  }
  if (!options.live && resembles_live(file)) {
    source.refuse(
        "a live session is \"live\" (set REPRISE_LISTEN and REPRISE_TOKEN to listen on a port), "
        "and a file of this name needs a folder, as in ./live:1");
  }
  if (!file.empty()) options.file = parse_file(source, file);
  return options;
}

std::optional<ProfileMode> profile_from_environment() {
  const std::string_view value = environment("REPRISE_PROFILE");
  if (value.empty()) return std::nullopt;
  if (value == "off") return ProfileMode::Off;
  if (value == "replays") return ProfileMode::Replays;
  if (value == "sampled") return ProfileMode::Sampled;
  if (value == "every") return ProfileMode::Every;
  refuse(concat("REPRISE_PROFILE is \"", value, "\"; use off, replays, sampled or every"));
}

RemoteProfile remote_profile(RemoteProfile wanted) {
  const std::string_view value = environment("REPRISE_REMOTE_PROFILE");
  if (value.empty()) return wanted;
  if (value == "nothing") return RemoteProfile::Nothing;
  if (value == "replays") return RemoteProfile::Replays;
  if (value == "sampled") return RemoteProfile::Sampled;
  if (value == "every") return RemoteProfile::Every;
  refuse(
      concat("REPRISE_REMOTE_PROFILE is \"", value, "\"; use nothing, replays, sampled or every"));
}

std::optional<trace::LiveProfile> max_level(RemoteProfile remote) {
  switch (remote) {
    case RemoteProfile::Nothing: return std::nullopt;
    case RemoteProfile::Replays: return trace::LiveProfile::Replays;
    case RemoteProfile::Sampled: return trace::LiveProfile::Sampled;
    case RemoteProfile::Every: return trace::LiveProfile::Every;
  }
  return std::nullopt;
}

void apply_listen(LiveOptions& live, const TraceDesc& desc) {
  const std::string_view listen = environment("REPRISE_LISTEN"),
                         token = environment("REPRISE_TOKEN");
  const Source address =
      listen.empty() ? Source{"TraceDesc::listen", desc.listen} : Source{"REPRISE_LISTEN", listen};
  live.listen = address.value;
  live.token = token.empty() ? desc.token : token;
  if (live.listen.empty()) return;
  if (!trace::parse_tcp_address(live.listen))
    refuse(concat(address.name, " is \"", address.value,
                  "\", which is not an address; use host:port or a port"));
  if (live.token.empty()) {
    refuse(concat(address.name, " is \"", address.value,
                  "\", which requires a token: set REPRISE_TOKEN or TraceDesc::token"));
  }
  if (live.token.size() > trace::kMaxTokenBytes)
    refuse(concat("a token of ", live.token.size(), " bytes exceeds the limit of ",
                  trace::kMaxTokenBytes, " bytes"));
}

}  // namespace

std::optional<TraceOptions> trace_options(const TraceDesc& desc, RemoteProfile remote) {
  const std::string_view wanted = environment("REPRISE_TRACE");
  const Source source =
      wanted.empty() ? Source{"InstanceDesc::trace", desc.target} : Source{"REPRISE_TRACE", wanted};
  const std::optional<ProfileMode> profile = profile_from_environment();
  if (source.value.empty()) return std::nullopt;
  TraceOptions options = parse_target(source);
  const ProfileMode usual = options.file.path.empty() ? ProfileMode::Sampled : ProfileMode::Every;
  options.profile = profile.value_or(desc.profile.value_or(usual));
  if (options.live) {
    options.live->remote_profile = max_level(remote_profile(remote));
    apply_listen(*options.live, desc);
  }
  return options;
}

TraceOptions trace_options_of(std::string_view variable, std::string_view target) {
  TraceOptions options = parse_target({variable, target});
  if (options.live) {
    options.live->remote_profile = trace::LiveProfile::Every;
    apply_listen(*options.live, {});
  }
  return options;
}

}  // namespace reprise::detail
