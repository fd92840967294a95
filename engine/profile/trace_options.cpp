#include "profile/trace_options.hpp"

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include <reprise/error.hpp>

#include "base/text.hpp"

namespace reprise::detail {

namespace {

constexpr std::string_view kForm = "FILE[,max=SIZE][,keep=last|first], where SIZE is bytes or a number with k, M or G";

[[noreturn]] void refuse(ErrorCode code, const std::string& text) {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Open;
  throw Error(std::move(details), text);
}

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Where a target was given, for messages.
struct Source {
  std::string_view name, value;
  [[noreturn]] void refuse(std::string_view why) const {
    detail::refuse(ErrorCode::InvalidArgument, concat(name, " is \"", value, "\": ", why, "; it may be ", kForm));
  }
};

// 0: no size.
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

void apply_option(trace::TraceFileDesc& file, const Source& source, std::string_view option, bool& keeps) {
  if (option.starts_with("max=")) {
    const std::string_view size = option.substr(4);
    file.max_bytes = parse_size(size);
    if (file.max_bytes == 0) source.refuse(concat("\"", size, "\" is no size"));
    if (file.max_bytes < trace::TraceFile::kMinMaxBytes) {
      source.refuse(concat("max=", size, " holds nothing, the least is ", trace::TraceFile::kMinMaxBytes >> 10, "k"));
    }
  } else if (option == "keep=last" || option == "keep=first") {
    file.keep = option == "keep=last" ? trace::TraceFileDesc::Keep::Last : trace::TraceFileDesc::Keep::First;
    keeps = true;
  } else {
    source.refuse(concat("\"", option, "\" is no option"));
  }
}

trace::TraceFileDesc parse_target(const Source& source) {
  const std::size_t end = source.value.find(',');
  const std::string_view path = source.value.substr(0, end);
  if (path.empty()) source.refuse("there is no file");
  if (path == "live") {
    refuse(ErrorCode::Unsupported, concat(source.name, " is \"", source.value, "\": live traces are not supported, only files; it may be ", kForm));
  }
  trace::TraceFileDesc file;
  file.path = std::filesystem::absolute(path).lexically_normal();
  bool keeps = false;
  for (std::size_t at = end; at != std::string_view::npos;) {
    const std::size_t next = source.value.find(',', at + 1);
    apply_option(file, source, source.value.substr(at + 1, next == std::string_view::npos ? next : next - at - 1), keeps);
    at = next;
  }
  if (keeps && file.max_bytes == 0) source.refuse("keep= needs max=");
  return file;
}

ProfileMode profile_mode(ProfileMode wanted) {
  const std::string_view value = environment("REPRISE_PROFILE");
  if (value.empty()) return wanted;
  if (value == "off") return ProfileMode::Off;
  if (value == "replays") return ProfileMode::Replays;
  if (value == "sampled") return ProfileMode::Sampled;
  if (value == "every") return ProfileMode::Every;
  refuse(ErrorCode::InvalidArgument, concat("REPRISE_PROFILE is \"", value, "\"; it may be off, replays, sampled or every"));
}

}  // namespace

std::optional<TraceOptions> trace_options(const TraceDesc& desc) {
  const ProfileMode profile = profile_mode(desc.profile);
  const std::string_view wanted = environment("REPRISE_TRACE");
  const Source source = wanted.empty() ? Source{"InstanceDesc::trace", desc.target} : Source{"REPRISE_TRACE", wanted};
  if (source.value.empty()) return std::nullopt;
  return TraceOptions{parse_target(source), profile};
}

}  // namespace reprise::detail
