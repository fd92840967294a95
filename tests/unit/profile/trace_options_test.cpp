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

void check_refused(ErrorCode code, const TraceDesc& desc,
                   std::initializer_list<std::string_view> parts) {
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

TEST_CASE("trace options: without a request there are no options") {
  const NoTraceEnvironment none;
  CHECK_FALSE(trace_options({}));
  CHECK_FALSE(trace_options({.profile = ProfileMode::Sampled}));
}

TEST_CASE("trace options: a target has a file, a limit and a choice of what to keep") {
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

TEST_CASE("trace options: each rank of a job has its own file") {
  const NoTraceEnvironment none;
  const auto path_of = [](const char* rank, const char* size, std::string_view target) {
    const EnvironmentVariable own("RANK", rank), all("WORLD_SIZE", size), local("LOCAL_RANK", "0"),
        address("MASTER_ADDR", "node0"), port("MASTER_PORT", "29500");
    return trace_options({.target = target})->file.path.string();
  };
  CHECK(path_of("3", "4", "/tmp/run.reprise") == "/tmp/run.rank3.reprise");
  CHECK(path_of("3", "16", "/tmp/run.v2.reprise,max=1M") == "/tmp/run.v2.rank03.reprise");
  CHECK(path_of("0", "1024", "/tmp/run") == "/tmp/run.rank0000");
  CHECK(path_of("0", "1", "/tmp/run.reprise") == "/tmp/run.reprise");
  CHECK(path_of("7", "4", "/tmp/run.reprise") == "/tmp/run.reprise");  // no rank of the job
}

TEST_CASE("trace options: live stands alone, with a file, or with a file and its limits") {
  const NoTraceEnvironment none;
  CHECK_FALSE(trace_options({.target = "run"})->live);
  const auto live = trace_options({.target = "live"});
  REQUIRE(live->live);
  CHECK(live->file.path.empty());
  CHECK(live->profile == ProfileMode::Sampled);
  CHECK(live->live->remote_profile == trace::LiveProfile::Sampled);
  CHECK(live->live->listen.empty());
  const auto both = trace_options({.target = "live,/tmp/run,max=3M"});
  CHECK(both->live);
  CHECK(both->file.path == "/tmp/run");
  CHECK(both->file.max_bytes == 3u << 20);
  CHECK(both->profile == ProfileMode::Every);
  CHECK(trace_options({.target = "live", .profile = ProfileMode::Replays})->profile ==
        ProfileMode::Replays);
  CHECK_FALSE(trace_options({.target = "./live"})->live);
  CHECK_FALSE(trace_options({.target = "lively"})->live);
}

TEST_CASE("trace options: a misspelt live is refused with the right form, and is no file") {
  const NoTraceEnvironment none;
  for (const char* target : {"live:7777", "live=7777", "LIVE", "Live,/tmp/run", "live ", "live;"}) {
    const EnvironmentVariable variable("REPRISE_TRACE", target);
    const std::string given = "REPRISE_TRACE is \"" + std::string(target) + "\"";
    check_refused(ErrorCode::InvalidArgument, {}, {given, "\"live\"", "REPRISE_LISTEN"});
  }
  for (const char* target : {"./live:7777", "live.reprise", "live-1", "live/run", "LIVELY"})
    CHECK_FALSE(trace_options({.target = target})->live);
}

TEST_CASE("trace options: the level for viewers and the token for TCP") {
  const NoTraceEnvironment none;
  CHECK_FALSE(trace_options({.target = "live"}, RemoteProfile::Nothing)->live->remote_profile);
  CHECK(trace_options({.target = "live"}, RemoteProfile::Every)->live->remote_profile ==
        trace::LiveProfile::Every);
  {
    const EnvironmentVariable remote("REPRISE_REMOTE_PROFILE", "replays");
    CHECK(trace_options({.target = "live"}, RemoteProfile::Every)->live->remote_profile ==
          trace::LiveProfile::Replays);
  }
  {
    const EnvironmentVariable remote("REPRISE_REMOTE_PROFILE", "off");
    check_refused(ErrorCode::InvalidArgument, {.target = "live"},
                  {"REPRISE_REMOTE_PROFILE is \"off\"; use nothing, replays, sampled or every"});
    CHECK(trace_options({.target = "run"}));  // applies only to live traces
  }
  const TraceDesc desc{.target = "live", .listen = "127.0.0.1:0", .token = "secret"};
  CHECK(trace_options(desc)->live->listen == "127.0.0.1:0");
  CHECK(trace_options(desc)->live->token == "secret");
  check_refused(ErrorCode::InvalidArgument, {.target = "live", .listen = ":0"},
                {"TraceDesc::listen is \":0\"", "requires a token"});
  check_refused(ErrorCode::InvalidArgument, {.target = "live", .listen = "x:y", .token = "secret"},
                {"x:y", "host:port"});
  const std::string long_token(trace::kMaxTokenBytes + 1, 'x');
  check_refused(ErrorCode::InvalidArgument, {.target = "live", .listen = ":0", .token = long_token},
                {"exceeds the limit of 256"});
  const EnvironmentVariable listen("REPRISE_LISTEN", ":4711"), token("REPRISE_TOKEN", "other");
  CHECK(trace_options(desc)->live->listen == ":4711");
  CHECK(trace_options(desc)->live->token == "other");
  CHECK(trace_options({.target = "run"}));
}

TEST_CASE("trace options: the environment takes precedence over the description") {
  const NoTraceEnvironment none;
  const EnvironmentVariable target("REPRISE_TRACE", "/tmp/environment,max=1M");
  {
    const auto options =
        trace_options({.target = "/tmp/description", .profile = ProfileMode::Replays});
    CHECK(options->file.path == "/tmp/environment");
    CHECK(options->profile == ProfileMode::Replays);
  }
  const std::pair<const char*, ProfileMode> modes[] = {{"off", ProfileMode::Off},
                                                       {"replays", ProfileMode::Replays},
                                                       {"sampled", ProfileMode::Sampled},
                                                       {"every", ProfileMode::Every}};
  for (const auto& [name, mode] : modes) {
    const EnvironmentVariable profile("REPRISE_PROFILE", name);
    CHECK(trace_options({.profile = ProfileMode::Replays})->profile == mode);
  }
}

TEST_CASE("trace options: an invalid value is rejected with its source and the valid values") {
  const NoTraceEnvironment none;
  for (const char* size :
       {"", "0", "1.5M", "-1", "M", "12x", "99999999999999999999", "9999999999G"}) {
    const std::string target = std::string("run,max=") + size;
    check_refused(ErrorCode::InvalidArgument, {.target = target},
                  {"InstanceDesc::trace", target, "is not a size", "max=SIZE"});
  }
  check_refused(ErrorCode::InvalidArgument, {.target = "run,max=1k"}, {"max=1k", "64k"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,limit=1M"},
                {"\"limit=1M\" is not an option", "keep=last|first"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,max=1M,"}, {"\"\" is not an option"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,max=1M,keep=all"},
                {"\"keep=all\" is not an option"});
  check_refused(ErrorCode::InvalidArgument, {.target = "run,keep=last"}, {"keep= needs max="});
  check_refused(ErrorCode::InvalidArgument, {.target = ",max=1M"}, {"the file name is missing"});
  check_refused(ErrorCode::InvalidArgument, {.target = "live,"},
                {"\"live,\"", "the file name is missing"});
  check_refused(ErrorCode::InvalidArgument, {.target = "live,,max=1M"},
                {"the file name is missing"});
  check_refused(ErrorCode::InvalidArgument, {.target = "live,run,limit=1M"},
                {"\"limit=1M\" is not an option"});
  const EnvironmentVariable target("REPRISE_TRACE", "run,max=a");
  check_refused(ErrorCode::InvalidArgument, {}, {"REPRISE_TRACE is \"run,max=a\""});
  const EnvironmentVariable profile("REPRISE_PROFILE", "all");
  check_refused(ErrorCode::InvalidArgument, {},
                {"REPRISE_PROFILE is \"all\"; use off, replays, sampled or every"});
}
