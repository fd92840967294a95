#ifdef REPRISE_HAS_CUDA

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.hpp"
#include "gpu.hpp"
#include "profile/nvtx.hpp"
#include "profiled_graph.hpp"
#include "raw_cupti.hpp"
#include "trace/trace_reader.hpp"
#include "trace_samples.hpp"

namespace reprise::bench {

namespace {

bool have_gpu() { return finds_gpu(Instance({.application = "reprise_bench"})); }

// Keeps the device there, whatever comes and goes. A raw executable must not be there while CUPTI
// comes or goes: so nothing is, but what is measured.
struct Place {
  BenchFolder folder;
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

struct Look {
  const char* name;
  ProfileMode mode;
  CudaGraphs cuda_graphs;
  Goal goal;  // of the ratio to no trace
};

// Both are there at once, and measured in turn.
void measure_beside(const Place& place, const Shape& shape, const Look& look,
                    const Options& options, Report& report) {
  const std::uint32_t pairs = options.is_quick() ? 3 : 21, launches = 32;
  ProfiledGraph plain({.shape = &shape});
  const auto replays =
      static_cast<std::uint32_t>(std::fmin(200, std::fmax(4, 10'000 / plain.gpu_us(4))));
  ProfiledGraph looked(
      {.shape = &shape, .trace = place.file(), .mode = look.mode, .cuda_graphs = look.cuda_graphs});
  Line gpu{.what = std::string(look.name) + ", replay",
           .shape = shape.name,
           .nodes = shape.size(),
           .unit = "us",
           .peer = "no trace",
           .goal = look.goal};
  measure_pairs(
      gpu, pairs, [&] { return looked.gpu_us(replays); }, [&] { return plain.gpu_us(replays); });
  report.add(gpu);
  Line more{.what = "  of it more", .shape = shape.name, .nodes = shape.size(), .unit = "us"};
  if (shape.size() == 1) more.goal = {Goal::Of::Median, look.mode == ProfileMode::Off ? 0.1 : 2.0};
  for (std::size_t i = 0; i < gpu.ours.size(); ++i) more.ours.push_back(gpu.ours[i] - gpu.peers[i]);
  report.add(more);
  Line cpu{.what = std::string(look.name) + ", launch",
           .shape = shape.name,
           .nodes = shape.size(),
           .unit = "ns",
           .peer = "no trace"};
  measure_pairs(
      cpu, pairs, [&] { return looked.launch_ns(launches); },
      [&] { return plain.launch_ns(launches); });
  report.add(cpu);
  Line more_cpu{.what = "  of it more", .shape = shape.name, .nodes = shape.size(), .unit = "ns"};
  if (shape.size() == 1)
    more_cpu.goal = {Goal::Of::Median, look.mode == ProfileMode::Off ? 20.0 : 200.0};
  for (std::size_t i = 0; i < cpu.ours.size(); ++i)
    more_cpu.ours.push_back(cpu.ours[i] - cpu.peers[i]);
  report.add(more_cpu);
}

// By what the last nodes of a trace were timed.
trace::SampleSource last_source(const std::filesystem::path& file) {
  const trace::TraceReader reader(file);
  std::optional<trace::SampleSource> last;
  for (const trace::ChunkEntry& chunk : reader.chunks()) {
    for (const trace::SampleBlock& block : reader.read(chunk).sample_blocks) last = block.source;
  }
  if (!last) throw std::runtime_error("no node was timed");
  return *last;
}

// us a replay of ours with each node timed by CUPTI, attached already.
double timed_by_cupti_us(const Place& place, const Shape& shape, double seconds) {
  double us = 0;
  {
    ProfiledGraph looked({.shape = &shape, .trace = place.file(), .mode = ProfileMode::Every});
    static_cast<void>(looked.wall_us(seconds));
    us = looked.wall_us(seconds);
  }
  if (last_source(place.path()) != trace::SampleSource::Cupti)
    throw std::runtime_error("nodes were not timed by CUPTI");
  return us;
}

}  // namespace

void run_profile_nvtx(const Options& options, Report& report) {
  const std::uint32_t ranges = options.is_quick() ? 10'000 : 1'000'000;
  Line line{.what = detail::nvtx_listens() ? "a tool listens" : "nobody listens",
            .unit = "ns a launch"};
  if (!detail::nvtx_listens()) line.goal = {Goal::Of::Median, 50};
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
  const Place place;
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
    measure_beside(place, shape,
                   {"Off", ProfileMode::Off, CudaGraphs::Exclusive, {Goal::Of::Ratio, 1.01}},
                   options, report);
    measure_beside(place, shape,
                   {"Replays", ProfileMode::Replays, CudaGraphs::Exclusive,
                    shape.size() == 1 ? Goal{} : Goal{Goal::Of::Ratio, 1.02}},
                   options, report);
  }
  report.add({.what = "libcupti came into the process",
              .unit = "times",
              .goal = {Goal::Of::Median, 0},
              .ours = {is_in_process("libcupti") && !was_there ? 1.0 : 0.0}});
}

// What is measured in turn here can't be there at once: CUPTI is in the way of everything else
// while it is at work.
void run_profile_nodes(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const Place place;
  const double shortly = options.is_quick() ? 0.05 : 1, at_length = options.is_quick() ? 0.2 : 10;
  const std::uint32_t rounds = options.is_quick() ? 1 : 3;
  const Look looks[] = {
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
                .unit = "us a replay",
                .peer = "raw graph",
                .ours = plain,
                .peers = raw});
    for (const Look& look : looks) {
      const double seconds =
          look.mode == ProfileMode::Sampled && shape.name == "layers 4/4" ? at_length : shortly;
      Line line{.what = look.name,
                .shape = shape.name,
                .nodes = shape.size(),
                .unit = "us a replay",
                .peer = "no trace",
                .goal = look.goal,
                .peers = plain};
      for (std::uint32_t round = 0; round < rounds; ++round) {
        ProfiledGraph looked({.shape = &shape,
                              .trace = place.file(),
                              .mode = look.mode,
                              .cuda_graphs = look.cuda_graphs});
        line.ours.push_back(looked.wall_us(seconds));
      }
      report.add(line);
    }
  }
}

// Attached in turn: the same raw graph takes up to 1.2 times as long in one attach as in the next.
void run_profile_cupti(const Options& options, Report& report) {
  if (!have_gpu()) return;
  const Place place;
  const double seconds = options.is_quick() ? 0.05 : 0.3;
  const std::uint32_t pairs = options.is_quick() ? 1 : 11;
  for (const Shape& shape : profiled_shapes(options)) {
    Line line{.what = "Every, Exclusive",
              .shape = shape.name,
              .nodes = shape.size(),
              .unit = "us a replay",
              .peer = "raw CUPTI"};
    if (shape.size() > 1)
      line.goal = {Goal::Of::Ratio,
                   1.05};  // of one node ours has three records: it has the frame's two stamps too
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      line.ours.push_back(timed_by_cupti_us(
          place, shape, seconds));  // first: an engine leaves CUPTI to who loaded it before
      RawCupti cupti;
      if (!cupti.why_not().empty()) {
        std::printf("  no raw CUPTI beside it: %s\n", cupti.why_not().c_str());
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
  const Place place;
  for (const Shape& shape : profiled_shapes(options)) {
    Line line{
        .what = "raw graph", .shape = shape.name, .nodes = shape.size(), .unit = "us a replay"};
    TimedRaw raw(shape, 0);
    for (int i = 0; i < 3; ++i) line.ours.push_back(raw.wall_us(options.is_quick() ? 0.02 : 0.5));
    report.add(line);
  }
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA
