#include <doctest/doctest.h>

#include <reprise/error.hpp>
#include <string>

#include "profile/trace_options.hpp"
#include "support/thrown_by.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::trace_options;
using Keep = trace::TraceFileDesc::Keep;

namespace {

void check_refused(ErrorCode code, const TraceDesc& desc, std::initializer_list<std::string_view> parts) {
  const Error error = thrown_by([&] { static_cast<void>(trace_options(desc)); });
  const std::string text = error.what();
  INFO("text: ", text);
  CHECK(error.code() == code);
  for (const std::string_view part : parts) {
    INFO("part: ", std::string(part));
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("trace options: nothing is asked for, nothing comes") {
  const NoTraceEnvironment none;
  CHECK_FALSE(trace_options({}));
  CHECK_FALSE(trace_options({.profile = ProfileMode::Sampled}));
}

TEST_CASE("trace options: a target has a file, a limit and what is kept at the limit") {
  const NoTraceEnvironment none;
  CHECK(trace_options({.target = "/tmp/a/../b"})->file.path == "/tmp/b");
  CHECK(trace_options({.target = "b"})->file.path == std::filesystem::current_path() / "b");
  CHECK(trace_options({.target = "b"})->file.max_bytes == 0);
  CHECK(trace_options({.target = "b"})->profile == ProfileMode::Every);
  CHECK(trace_options({.target = "b,max=65536"})->file.max_bytes == 65536);
  CHECK(trace_options({.target = "b,max=64k"})->file.max_bytes == 65536);
  CHECK(trace_options({.target = "b,max=3M"})->file.max_bytes == 3u << 20);
  CHECK(trace_options({.target = "b,keep=first,max=2G"})->file.max_bytes == std::uint64_t{2} << 30);
  CHECK(trace_options({.target = "b,max=3M"})->file.keep == Keep::Last);
  CHECK(trace_options({.target = "b,max=3M,keep=last"})->file.keep == Keep::Last);
  CHECK(trace_options({.target = "b,max=3M,keep=first"})->file.keep == Keep::First);
}

TEST_CASE("trace options: the environment wins over the description") {
  const NoTraceEnvironment none;
  const EnvironmentVariable target("REPRISE_TRACE", "/tmp/environment,max=1M");
  {
    const auto options = trace_options({.target = "/tmp/description", .profile = ProfileMode::Replays});
    CHECK(options->file.path == "/tmp/environment");
    CHECK(options->profile == ProfileMode::Replays);
  }
  const std::pair<const char*, ProfileMode> modes[] = {
      {"off", ProfileMode::Off}, {"replays", ProfileMode::Replays}, {"sampled", ProfileMode::Sampled}, {"every", ProfileMode::Every}};
  for (const auto& [name, mode] : modes) {
    const EnvironmentVariable profile("REPRISE_PROFILE", name);
    CHECK(trace_options({.profile = ProfileMode::Replays})->profile == mode);
  }
}

TEST_CASE("trace options: what is wrong is refused, naming where it stands and what it may be") {
  const NoTraceEnvironment none;
  for (const char* size : {"", "0", "1.5M", "-1", "M", "12x", "99999999999999999999", "9999999999G"}) {
    const std::string target = std::string("run,max=") + size;
    check_refused(ErrorCode::InvalidArgument, {.target = target}, {"InstanceDesc::trace", target, "is no size", "max=SIZE"});
  }
  check_refused(ErrorCode::InvalidArgument, {.target = "run,max=1k"}, {"max=1k", "64k"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,limit=1M"}, {"\"limit=1M\" is no option", "keep=last|first"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,max=1M,"}, {"\"\" is no option"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,max=1M,keep=all"}, {"\"keep=all\" is no option"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,keep=last"}, {"keep= needs max="});
  check_refused(ErrorCode::InvalidArgument, {.target = ",max=1M"}, {"there is no file"});
  check_refused(ErrorCode::Unsupported, {.target = "live"}, {"live", "not supported", "FILE"});
  const EnvironmentVariable target("REPRISE_TRACE", "run,max=a");
  check_refused(ErrorCode::InvalidArgument, {}, {"REPRISE_TRACE is \"run,max=a\""});
  const EnvironmentVariable profile("REPRISE_PROFILE", "all");
  check_refused(ErrorCode::InvalidArgument, {}, {"REPRISE_PROFILE is \"all\"; it may be off, replays, sampled or every"});
}
