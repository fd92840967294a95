// RunSession with viewers that connect, request and disconnect, with a fake driver and a fake
// CUPTI.
#include "injection/run_session.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "injection/hand_made_cupti.hpp"
#include "injection/played_calls.hpp"
#include "trace/live/session_directory.hpp"
#include "trace/trace_reader.hpp"
#include "unit/trace/live_support.hpp"

namespace reprise::test {
namespace {

using detail::RunEnvironment;
using detail::RunSession;

const std::string kTimed = "recording the times of nodes and replays",
                  kUntimed = "recording the times of replays only";

// The interposer of all programs here.
detail::CallHook hook = nullptr;
void* of_hook = nullptr;
void set_hook(detail::CallHook given, void* self) {
  hook = given;
  of_hook = self;
}

// A program with one graph of two kernels, observed live and in a file: by CUPTI, or by the
// interposer where the environment asks for GPU core dumps.
class WatchedProgram {
 public:
  explicit WatchedProgram(RunEnvironment environment = {})
      : is_interposed_(environment.faults || environment.hang_after != 0) {
    environment.trace = detail::trace_options_of("TEST", "live," + file().string());
    RunSession::Desc desc;
    desc.environment = std::move(environment);
    desc.application = "watched";
    desc.load_cupti = [this] { return detail::CuptiLibrary::Loaded{&cupti.library(), {}}; };
    desc.load_driver = [this] { return detail::DriverCalls::Loaded{&driver_, {}}; };
    desc.find_interposer = []() -> detail::SetCallHook { return &set_hook; };
    start_ = [this, desc] { session_.emplace(desc); };
    for (std::uint64_t id = 0; id < 2; ++id) {
      HandMadeNode& node = graph_.nodes.emplace_back();
      node.type = CU_GRAPH_NODE_TYPE_KERNEL;
      node.kernel.func = handle_of<CUfunction>(kernel_);
      node.profiler_id = id;
    }
    graph_.edges = {{0, 1}};
  }
  void start() {
    start_();
    if (!is_interposed_) return calls_.instantiate(graph_, exec_);
    CUgraphExec exec = exec_;
    calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
                cuGraphInstantiateWithFlags_params{&exec, handle_of<CUgraph>(graph_), 0});
  }
  // The simulated GPU runs the launch immediately.
  void launch() {
    ++launches_;
    calls_.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, cuGraphLaunch_params{exec_, nullptr},
                {.correlation = launches_});
    for (std::uint64_t node = 0; node < 2; ++node) {
      const std::uint64_t started = 1'000 * launches_ + 100 * node;
      cupti.add({.node = (std::uint64_t{kHandMadeExecId} << 32) | node,
                 .correlation = launches_,
                 .started = started,
                 .ended = started + 50,
                 .kernel = kernel_.name.c_str()});
    }
  }
  void finish() { session_->finish(); }
  void abort() { session_->finish_in_signal(); }
  void wait() {
    calls_.call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, cuStreamSynchronize_params{nullptr});
  }
  void begin_wait() {
    calls_.enter(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, cuStreamSynchronize_params{nullptr});
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "watched.reprise"; }
  [[nodiscard]] std::string address() const {
    auto sessions = trace::list_sessions();
    std::erase_if(sessions, [](const auto& one) {  // of programs that run beside the tests
      return one.pid != static_cast<std::uint32_t>(::getpid());
    });
    REQUIRE(sessions.size() == 1);
    return sessions[0].path.string();
  }
  [[nodiscard]] trace::Records written() const {
    trace::Records all;
    const trace::TraceReader reader(file());
    for (const trace::ChunkEntry& chunk : reader.chunks()) add(reader.read(chunk), all);
    return all;
  }
  static void add(trace::Records from, trace::Records& to) {
    const auto move = [](auto& some, auto& all) {
      all.insert(all.end(), some.begin(), some.end());
    };
    move(from.graph_versions, to.graph_versions);
    move(from.replays, to.replays);
    move(from.sample_blocks, to.sample_blocks);
    move(from.messages, to.messages);
    move(from.host_ranges, to.host_ranges);
  }

  HandMadeCupti cupti;

 private:
  const bool is_interposed_;
  RuntimeFolder folder_;
  const detail::DriverCalls driver_ = hand_made_driver();
  PlayedCalls calls_{[this](CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    if (!is_interposed_) return cupti.call_back(domain, id, data);
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    hook(of_hook, id, call.functionParams, static_cast<const CUresult*>(call.functionReturnValue));
  }};
  HandMadeKernel kernel_{"_Z3addPf"};
  HandMadeGraph graph_;
  const CUgraphExec exec_ = reinterpret_cast<CUgraphExec>(0xe0e0e0);
  std::uint32_t launches_ = 0;
  std::function<void()> start_;
  std::optional<RunSession> session_;
};

// The records that a viewer has received.
trace::Records seen_by(const Collector& viewer) {
  trace::Records all;
  for (const auto& chunk : viewer.chunks())
    WatchedProgram::add(trace::read_chunk(chunk->header, chunk->payload), all);
  return all;
}

std::size_t times_said(const trace::Records& records, const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(records.messages.begin(), records.messages.end(),
                    [&](const trace::Message& one) { return one.text == text; }));
}

bool says(const Collector& viewer, const std::string& text, std::size_t times = 1) {
  return eventually([&] { return times_said(seen_by(viewer), text) == times; });
}

bool has_samples_of(const Collector& viewer, std::uint64_t replay) {
  return eventually([&] {
    const trace::Records records = seen_by(viewer);
    return std::any_of(records.sample_blocks.begin(), records.sample_blocks.end(),
                       [&](const trace::SampleBlock& one) { return one.replay == replay; });
  });
}

std::vector<std::uint64_t> sampled(const trace::Records& records) {
  std::vector<std::uint64_t> replays;
  for (const trace::SampleBlock& block : records.sample_blocks) {
    CHECK(block.samples.size() == 2);
    replays.push_back(block.replay);
  }
  return replays;
}

void ask_for(Collector& viewer, trace::LiveProfile profile) {
  trace::LiveRequest request;
  request.kind = trace::LiveRequest::Kind::SetProfile;
  request.profile = profile;
  viewer.client().request(request);
}

}  // namespace

TEST_CASE(
    "run session: nodes are recorded on a viewer's request, and the viewer receives earlier "
    "graphs") {
  WatchedProgram program;
  program.start();
  program.launch();
  program.launch();
  CHECK_FALSE(program.cupti.records_kernels());
  {
    Collector viewer(program.address());
    REQUIRE(says(viewer, kTimed));
    CHECK(program.cupti.records_kernels());
    program.launch();  // 3
    CHECK(has_samples_of(viewer, 3));
    ask_for(viewer, trace::LiveProfile::Replays);
    REQUIRE(says(viewer, kUntimed));
    CHECK_FALSE(program.cupti.records_kernels());
    program.launch();  // 4
    ask_for(viewer, trace::LiveProfile::Every);
    REQUIRE(says(viewer, kTimed, 2));
    program.launch();  // 5
    CHECK(has_samples_of(viewer, 5));
    const trace::Records seen = seen_by(viewer);
    REQUIRE(seen.graph_versions.size() == 1);
    CHECK(seen.graph_versions[0].nodes.size() == 2);
    CHECK(seen.graph_versions[0].edges.size() == 1);
    CHECK(sampled(seen) == std::vector<std::uint64_t>{3, 5});
  }
  REQUIRE(eventually([&] { return !program.cupti.records_kernels(); }));  // no viewer is connected
  program.launch();                                                       // 6
  program.finish();
  const trace::Records written = program.written();
  CHECK(written.replays.size() == 6);
  CHECK(sampled(written) == std::vector<std::uint64_t>{3, 5});
  CHECK(times_said(written, kTimed) == 2);
  CHECK(times_said(written, kUntimed) == 2);
}

TEST_CASE(
    "run session: with recorded nodes from the start, a viewer can disable them until it "
    "disconnects") {
  RunEnvironment environment;
  environment.nodes = detail::ObservedProgram::Nodes::Recorded;
  WatchedProgram program(environment);
  program.start();
  program.launch();
  {
    Collector viewer(program.address());
    REQUIRE(viewer.wait_until_live());
    ask_for(viewer, trace::LiveProfile::Off);
    REQUIRE(says(viewer, kUntimed));
    program.launch();
  }
  REQUIRE(eventually([&] { return program.cupti.records_kernels(); }));
  program.finish();
  CHECK_FALSE(program.cupti.records_kernels());
  CHECK(sampled(program.written()) == std::vector<std::uint64_t>{1});
}

TEST_CASE(
    "run session: CUPTI that is left to the program or in use is not touched, and trace and "
    "viewers contain the reason") {
  RunEnvironment yields;
  yields.cupti = RunEnvironment::Cupti::ByProgram;
  for (const bool yield : {true, false}) {
    WatchedProgram program(yield ? yields : RunEnvironment{});
    program.cupti.subscription = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    program.start();
    program.launch();
    Collector viewer(program.address());
    const auto is_told = [&] {
      const trace::Records seen = seen_by(viewer);
      return std::any_of(seen.messages.begin(), seen.messages.end(), [](const trace::Message& one) {
        return one.id == "run.cupti" && one.severity != trace::Severity::Info;
      });
    };
    CHECK(eventually(is_told));
    CHECK_FALSE(program.cupti.records_kernels());
    program.finish();
    const trace::Records written = program.written();
    CHECK(written.graph_versions.empty());
    CHECK(written.replays.empty());
    REQUIRE(written.messages.size() == 1);
    CHECK(written.messages[0].text.find(yield ? "left to the program" : "no graphs are observed") !=
          std::string::npos);
  }
}

TEST_CASE("run session: an abort writes the replays and waits before it") {
  RunEnvironment environment;
  environment.faults = true;
  WatchedProgram program(environment);
  program.start();
  program.launch();
  program.wait();
  program.launch();
  program.abort();
  const trace::Records written = program.written();
  CHECK(written.graph_versions.size() == 1);
  CHECK(written.replays.size() == 2);
  REQUIRE(written.host_ranges.size() == 1);
  CHECK(written.host_ranges[0].name == "cuStreamSynchronize");
  CHECK(written.host_ranges[0].graph == written.replays[0].graph);
  CHECK(written.host_ranges[0].replay == 1);
}

TEST_CASE("run session: a wait that lasts is reported once, with why no dump was requested") {
  RunEnvironment environment;
  environment.hang_after = 1;
  WatchedProgram program(environment);
  program.start();
  program.launch();
  program.begin_wait();
  const auto reports = [&] {
    const trace::Records written = program.written();
    return std::count_if(
        written.messages.begin(), written.messages.end(), [](const trace::Message& one) {
          return one.id == "run.wait" &&
                 one.text.find("no GPU core dump was requested: CUDA_COREDUMP_PIPE is not set") !=
                     std::string::npos;
        });
  };
  CHECK(eventually([&] { return reports() == 1; }));
  program.finish();
  CHECK(reports() == 1);
}

TEST_CASE("run session: callbacks after the end are ignored") {
  WatchedProgram program;
  program.start();
  program.launch();
  program.finish();
  program.launch();
  program.finish();
  CHECK(program.written().replays.size() == 1);
}

}  // namespace reprise::test
