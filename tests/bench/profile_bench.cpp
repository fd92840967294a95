#ifdef REPRISE_HAS_CUDA

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "gpu.hpp"
#include "profile/nvtx.hpp"
#include "profiled_graph.hpp"
#include "raw_cupti.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_reader.hpp"
#include "trace_samples.hpp"

namespace reprise::bench {

namespace {

bool have_gpu() { return finds_gpu(Instance({.application = "reprise_bench"})); }

// Keeps the device open. Raw executables must not exist while CUPTI is attached or detached, so
// only the measured graph exists.
struct ProfileSetup {
  test::TemporaryFolder folder;
  Instance instance{{.application = "reprise_bench"}};
  Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  CurrentDevice current{device};
  [[nodiscard]] std::filesystem::path path() const { return folder.path() / "run.reprise"; }
  [[nodiscard]] std::string file() const { return path().string() + ",max=256M"; }
};

std::vector<Shape> profiled_shapes(const Options& options) {
  if (options.is_quick()) return {chain_shape(1), layer_shape(100, 4, 4)};
  return {chain_shape(1), chain_shape(1000), layer_shape(1000, 4, 4), wide_shape(1000)};
}

bool is_in_process(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

struct ProfileCase {
  const char* name;
  ProfileMode mode;
  CudaGraphs cuda_graphs;
  Goal goal;  // for the ratio to no trace
};

// Both graphs exist at once and are measured alternately.
void measure_beside(const ProfileSetup& setup, const Shape& shape, const ProfileCase& profile_case,
                    const Options& options, Report& report) {
  const std::uint32_t pairs = options.is_quick() ? 3 : 21, launches = 32;
  ProfiledGraph plain({.shape = &shape});
  const auto replays =
      static_cast<std::uint32_t>(std::fmin(200, std::fmax(4, 10'000 / plain.gpu_us(4))));
  ProfiledGraph profiled({.shape = &shape,
                          .trace = setup.file(),
                          .mode = profile_case.mode,
                          .cuda_graphs = profile_case.cuda_graphs});
  Line gpu{.what = std::string(profile_case.name) + ", replay",
           .shape = shape.name,
           .nodes = shape.size(),
           .unit = "us",
           .peer = "no trace",
           .goal = profile_case.goal};
  measure_pairs(
      gpu, pairs, [&] { return profiled.gpu_us(replays); }, [&] { return plain.gpu_us(replays); });
  report.add(gpu);
  Line more{.what = "  overhead", .shape = shape.name, .nodes = shape.size(), .unit = "us"};
  if (shape.size() == 1)
    more.goal = {Goal::Of::Median, profile_case.mode == ProfileMode::Off ? 0.1 : 2.0};
  for (std::size_t i = 0; i < gpu.ours.size(); ++i) more.ours.push_back(gpu.ours[i] - gpu.peers[i]);
  report.add(more);
  Line cpu{.what = std::string(profile_case.name) + ", launch",
           .shape = shape.name,
           .nodes = shape.size(),
           .unit = "ns",
           .peer = "no trace"};
  measure_pairs(
      cpu, pairs, [&] { return profiled.launch_ns(launches); },
      [&] { return plain.launch_ns(launches); });
  report.add(cpu);
  Line more_cpu{.what = "  overhead", .shape = shape.name, .nodes = shape.size(), .unit = "ns"};
  if (shape.size() == 1)
    more_cpu.goal = {Goal::Of::Median, profile_case.mode == ProfileMode::Off ? 20.0 : 200.0};
  for (std::size_t i = 0; i < cpu.ours.size(); ++i)
    more_cpu.ours.push_back(cpu.ours[i] - cpu.peers[i]);
  report.add(more_cpu);
}

// The source of the last node times of a trace.
trace::SampleSource last_source(const std::filesystem::path& file) {
  const trace::TraceReader reader(file);
  std::optional<trace::SampleSource> last;
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    for (const trace::SampleBlock& block : reader.read(chunk).sample_blocks) last = block.source;
  }
  if (!last) throw std::runtime_error("the trace has no node times");
  return *last;
}

// us per replay with every node timed by CUPTI, excluding the attach.
double timed_by_cupti_us(const ProfileSetup& setup, const Shape& shape, double seconds) {
  double us = 0;
  {
    ProfiledGraph profiled({.shape = &shape, .trace = setup.file(), .mode = ProfileMode::Every});
    static_cast<void>(profiled.wall_us(seconds));
    us = profiled.wall_us(seconds);
  }
  if (last_source(setup.path()) != trace::SampleSource::Cupti)
    throw std::runtime_error("nodes were not timed by CUPTI");
  return us;
}

// Both graphs exist at once and are measured alternately.
void measure_segments(const ProfileSetup& setup, const Options& options, Report& report) {
  if (setup.device.info().limits.max_segment_blocks == 0) return;
  for (const std::uint32_t spin_ns : {0u, 500u, 2'000u}) {
    for (const Shape& shape : profiled_shapes(options)) {
      if (shape.size() == 1) continue;
      ProfiledGraphDesc desc{.shape = &shape,
                             .spin_ns = spin_ns,
                             .trace = setup.file(),
                             .mode = ProfileMode::Replays,
                             .lowering = Lowering::Persistent};
      ProfiledGraph plain(desc);
      const auto replays =
          static_cast<std::uint32_t>(std::fmin(200, std::fmax(4, 10'000 / plain.gpu_us(4))));
      for (const bool is_every : {false, true}) {
        desc.trace = (setup.folder.path() / "nodes.reprise").string() + ",max=256M";
        desc.mode = is_every ? ProfileMode::Every : ProfileMode::Sampled;
        ProfiledGraph timed(desc);
        static_cast<void>(timed.wall_us(0.3));  // until the timed kernel is compiled
        Line line{.what = std::string(is_every ? "Every" : "Sampled") + ", segments, " +
                          std::to_string(spin_ns) + " ns",
                  .shape = shape.name,
                  .nodes = shape.size(),
                  .unit = "us/replay",
                  .peer = "Replays",
                  .goal = spin_ns == 0 ? Goal{} : Goal{Goal::Of::Ratio, 1.03}};
        measure_pairs(
            line, options.is_quick() ? 3 : 21, [&] { return timed.gpu_us(replays); },
            [&] { return plain.gpu_us(replays); });
        report.add(line);
      }
    }
  }
}

}  // namespace

// CTest runs this with --check, so the goals leave room for noise.
void run_cuda_promises(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const ProfileSetup setup;
  const auto replays_in_10_ms = [](double once_us) {
    return static_cast<std::uint32_t>(std::fmin(200, std::fmax(4, 10'000 / once_us)));
  };
  const std::pair<Shape, double> shapes[] = {
      {wide_shape(1000), 0.8}, {layer_shape(1024, 32, 3), 0.95}, {chain_shape(1000), 1.05}};
  for (const auto& [shape, at_most] : shapes) {
    TimedRaw raw(shape, 0);
    ProfiledGraph ours({.shape = &shape});
    const std::uint32_t replays = replays_in_10_ms(raw.gpu_us(4));
    Line line{.what = "replay",
              .shape = shape.name,
              .nodes = shape.size(),
              .unit = "us",
              .peer = "raw graph",
              .goal = {Goal::Of::Ratio, at_most}};
    measure_pairs(
        line, pairs(options), [&] { return ours.gpu_us(replays); },
        [&] { return raw.gpu_us(replays); });
    report.add(line);
  }
  const Shape shape = layer_shape(1000, 4, 4);
  const Lowering nodes = Lowering::Auto.without_segments();
  ProfiledGraph plain({.shape = &shape, .lowering = nodes});
  ProfiledGraph timed(
      {.shape = &shape, .trace = setup.file(), .mode = ProfileMode::Replays, .lowering = nodes});
  const std::uint32_t replays = replays_in_10_ms(plain.gpu_us(4));
  Line line{.what = "every replay timed",
            .shape = shape.name,
            .nodes = shape.size(),
            .unit = "us",
            .peer = "no trace",
            .goal = {Goal::Of::Ratio, 1.05}};
  measure_pairs(
      line, pairs(options), [&] { return timed.gpu_us(replays); },
      [&] { return plain.gpu_us(replays); });
  report.add(line);
}

void run_profile_nvtx(const Options& options, Report& report) {
  const std::uint32_t ranges = options.is_quick() ? 10'000 : 1'000'000;
  Line line{.what = detail::nvtx_enabled() ? "with a tool" : "without a tool", .unit = "ns/launch"};
  if (!detail::nvtx_enabled()) line.goal = {Goal::Of::Median, 50};
  for (int i = 0; i < 9; ++i) {
    line.ours.push_back(ns_of([&] {
                          for (std::uint32_t replay = 1; replay <= ranges; ++replay) {
                            const detail::NvtxRange range(detail::NvtxWork::Replay, "step", replay);
                          }
                        }) /
                        ranges);
  }
  report.add(line);
}

void run_profile_replays(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const ProfileSetup setup;
  const bool was_there = is_in_process("libcupti");
  for (const Shape& shape : profiled_shapes(options)) {
    {
      const auto raw = std::make_unique<TimedRaw>(shape, 0);
      ProfiledGraph plain({.shape = &shape});
      const auto replays =
          static_cast<std::uint32_t>(std::fmin(200, std::fmax(4, 10'000 / raw->gpu_us(4))));
      Line line{.what = "no trace, replay",
                .shape = shape.name,
                .nodes = shape.size(),
                .unit = "us",
                .peer = "raw graph"};
      measure_pairs(
          line, options.is_quick() ? 3 : 21, [&] { return plain.gpu_us(replays); },
          [&] { return raw->gpu_us(replays); });
      report.add(line);
    }
    measure_beside(setup, shape,
                   {"Off", ProfileMode::Off, CudaGraphs::Exclusive, {Goal::Of::Ratio, 1.01}},
                   options, report);
    measure_beside(setup, shape,
                   {"Replays", ProfileMode::Replays, CudaGraphs::Exclusive,
                    shape.size() == 1 ? Goal{} : Goal{Goal::Of::Ratio, 1.02}},
                   options, report);
  }
  report.add({.what = "libcupti came into the process",
              .unit = "times",
              .goal = {Goal::Of::Median, 0},
              .ours = {is_in_process("libcupti") && !was_there ? 1.0 : 0.0}});
}

// The modes are measured one after another, because an active CUPTI slows down everything else.
void run_profile_nodes(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const ProfileSetup setup;
  measure_segments(setup, options, report);
  const double shortly = options.is_quick() ? 0.05 : 1, at_length = options.is_quick() ? 0.2 : 10;
  const std::uint32_t rounds = options.is_quick() ? 1 : 3;
  const ProfileCase looks[] = {
      {"Sampled", ProfileMode::Sampled, CudaGraphs::Exclusive, {Goal::Of::Ratio, 1.02}},
      {"Every, Exclusive", ProfileMode::Every, CudaGraphs::Exclusive, {}},
      {"Every, Foreign", ProfileMode::Every, CudaGraphs::Foreign, {}}};
  for (const Shape& shape : profiled_shapes(options)) {
    std::vector<double> raw, plain;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      raw.push_back(std::make_unique<TimedRaw>(shape, 0)->wall_us(shortly));
      plain.push_back(
          std::make_unique<ProfiledGraph>(ProfiledGraphDesc{.shape = &shape})->wall_us(shortly));
    }
    report.add({.what = "no trace",
                .shape = shape.name,
                .nodes = shape.size(),
                .unit = "us/replay",
                .peer = "raw graph",
                .ours = plain,
                .peers = raw});
    for (const ProfileCase& profile_case : looks) {
      const double seconds = profile_case.mode == ProfileMode::Sampled && shape.name == "layers 4/4"
                                 ? at_length
                                 : shortly;
      Line line{.what = profile_case.name,
                .shape = shape.name,
                .nodes = shape.size(),
                .unit = "us/replay",
                .peer = "no trace",
                .goal = profile_case.goal,
                .peers = plain};
      for (std::uint32_t round = 0; round < rounds; ++round) {
        ProfiledGraph profiled({.shape = &shape,
                                .trace = setup.file(),
                                .mode = profile_case.mode,
                                .cuda_graphs = profile_case.cuda_graphs});
        line.ours.push_back(profiled.wall_us(seconds));
      }
      report.add(line);
    }
  }
}

// Attaches alternately: the time of the same raw graph varies by up to 20 % between attaches.
void run_profile_cupti(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const ProfileSetup setup;
  const double seconds = options.is_quick() ? 0.05 : 0.3;
  const std::uint32_t pairs = options.is_quick() ? 1 : 11;
  for (const Shape& shape : profiled_shapes(options)) {
    Line line{.what = "Every, Exclusive",
              .shape = shape.name,
              .nodes = shape.size(),
              .unit = "us/replay",
              .peer = "raw CUPTI"};
    // a single node has three records: the two entry/exit timestamps add two
    if (shape.size() > 1) line.goal = {Goal::Of::Ratio, 1.05};
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      // first, because an engine leaves CUPTI to an earlier client
      line.ours.push_back(timed_by_cupti_us(setup, shape, seconds));
      RawCupti cupti;
      if (!cupti.error().empty()) {
        std::printf("  no raw CUPTI for comparison: %s\n", cupti.error().c_str());
        return;
      }
      TimedRaw traced(shape, 0);
      static_cast<void>(traced.wall_us(seconds));
      line.peers.push_back(traced.wall_us(seconds));
      if (cupti.records() == 0) throw std::runtime_error("raw CUPTI recorded nothing");
    }
    report.add(line);
  }
}

void run_profile_raw(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const ProfileSetup setup;
  for (const Shape& shape : profiled_shapes(options)) {
    Line line{.what = "raw graph", .shape = shape.name, .nodes = shape.size(), .unit = "us/replay"};
    TimedRaw raw(shape, 0);
    for (int i = 0; i < 3; ++i) line.ours.push_back(raw.wall_us(options.is_quick() ? 0.02 : 0.5));
    report.add(line);
  }
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA
