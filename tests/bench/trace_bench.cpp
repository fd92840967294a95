#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "shapes.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"
#include "trace/trace_writer.hpp"
#include "trace_samples.hpp"
#include "work.shaders.hpp"

namespace reprise::bench {

namespace {

std::uint64_t sample_bytes(const trace::TraceReader& reader) {
  std::uint64_t bytes = 0;
  for (const trace::ChunkEntry& c : reader.chunks()) {
    if (c.header.kind == trace::ChunkKind::Samples)
      bytes += trace::ChunkHeader::kBytes + c.header.compressed_bytes;
  }
  return bytes;
}
std::uint64_t samples_in(const trace::TraceReader& reader) {
  std::uint64_t samples = 0;
  for (const trace::ChunkEntry& c : reader.chunks()) samples += c.header.sample_count;
  return samples;
}
std::uint64_t lost_in(const trace::TraceReader& reader) {
  std::uint64_t lost = 0;
  for (const trace::ChunkEntry& c : reader.chunks()) {
    if (c.header.kind == trace::ChunkKind::Samples) continue;
    for (const trace::Loss& l : reader.read(c).losses) lost += l.count;
  }
  return lost;
}

double bytes_a_sample(const trace::TraceReader& reader) {
  return static_cast<double>(sample_bytes(reader)) / static_cast<double>(samples_in(reader));
}

// Time from the first pushed block until the last one is in the file; the queue has room for all.
double write_once(const trace::GraphVersion& graph, const std::vector<trace::SampleBlock>& blocks,
                  const std::filesystem::path& path) {
  std::vector<trace::Record> records(blocks.begin(), blocks.end());
  trace::TraceWriter writer;
  writer.add_sink(std::make_shared<trace::TraceFile>(trace::TraceFileDesc{.path = path}));
  static_cast<void>(writer.push(graph));
  return ns_of([&] {
           for (trace::Record& r : records) static_cast<void>(writer.push(std::move(r)));
           writer.flush();
         }) /
         (static_cast<double>(blocks.size()) * kTracedNodes);
}

// A graph of `kTracedNodes` nodes on the host device, each computing for `steps` steps.
struct ReplayedDesc {
  Shape shape;
  unsigned steps = 0;
  std::filesystem::path trace = {};  // empty: none
  ProfileMode mode = ProfileMode::Every;
};

class Replayed {
 public:
  explicit Replayed(const ReplayedDesc& desc)
      : instance_({.application = "reprise_bench",
                   .trace = {.target = desc.trace.native(), .profile = desc.mode}}),
        device_(instance_.open_device(DeviceSelector::named("host"))),
        queue_(device_.create_queue()),
        pool_(device_.create_pool()) {
    const Kernel kernel = device_.load_kernel(shaders::work);
    const std::uint32_t nodes = desc.shape.size();
    const GpuRef<unsigned> state = pool_->allocate<unsigned>(nodes + 1, "state");
    CommandBuffer commands = device_.create_command_buffer({.label = desc.shape.name});
    commands.begin();
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const Parents& parents = desc.shape.nodes[i];
      const std::uint32_t one = parents.count == 0 ? nodes : parents.node[0],
                          other = parents.count == 0 ? nodes : parents.node[parents.count - 1];
      commands.dispatch(kernel, {.grid = 1, .block = 1}, desc.steps, write(state.slice(i, 1)),
                        read(state.slice(one, 1)), read(state.slice(other, 1)));
    }
    commands.end();
    graph_.emplace(device_.compile(commands, {.pool = pool_}));
  }
  double ns_a_replay(std::uint32_t replays) {
    return ns_of([&] {
             for (std::uint32_t i = 0; i < replays; ++i) graph_->launch(queue_).wait();
           }) /
           replays;
  }

 private:
  Instance instance_;
  Device device_;
  Queue queue_;
  std::shared_ptr<CapturePool> pool_;
  std::optional<CapturedGraph> graph_;
};

// steps that make a node of a chain take 2 us
unsigned steps_of_a_node() {
  constexpr unsigned kSteps = 1'500;
  Replayed chain({.shape = chain_shape(kTracedNodes), .steps = kSteps});
  static_cast<void>(chain.ns_a_replay(5));
  double fastest = chain.ns_a_replay(1);
  for (int i = 0; i < 20; ++i) fastest = std::min(fastest, chain.ns_a_replay(1));
  return static_cast<unsigned>(kSteps * 2'000.0 * kTracedNodes / fastest);
}

void measure_tracing(const Shape& shape, unsigned steps, const Options& options, Report& report) {
  struct Mode {
    const char* name;
    ProfileMode mode;
    Goal goal;
  };
  const test::TemporaryFolder folder;
  for (const Mode& mode : {Mode{"replay, Every", ProfileMode::Every, {Goal::Of::Ratio, 1.05}},
                           Mode{"replay, Sampled", ProfileMode::Sampled, {}},
                           Mode{"replay, Replays", ProfileMode::Replays, {}}}) {
    const std::filesystem::path file = folder.path() / (std::string(mode.name + 8) + ".reprise");
    Line line{.what = mode.name,
              .shape = shape.name,
              .nodes = kTracedNodes,
              .unit = "us",
              .peer = "not traced",
              .goal = mode.goal};
    {
      Replayed traced({.shape = shape, .steps = steps, .trace = file, .mode = mode.mode}),
          plain({.shape = shape, .steps = steps});
      constexpr std::uint32_t kReplays = 20;
      static_cast<void>(traced.ns_a_replay(kReplays));
      static_cast<void>(plain.ns_a_replay(kReplays));
      measure_pairs(
          line, options.is_quick() ? 3 : 51, [&] { return traced.ns_a_replay(kReplays) / 1e3; },
          [&] { return plain.ns_a_replay(kReplays) / 1e3; });
    }
    report.add(line);
    if (mode.mode != ProfileMode::Every) continue;
    const trace::TraceReader reader(file);
    report.add({.what = "on disk",
                .shape = shape.name,
                .nodes = kTracedNodes,
                .unit = "bytes/sample",
                .goal = {Goal::Of::Median, 8},
                .ours = {bytes_a_sample(reader)}});
    report.add({.what = "lost",
                .shape = shape.name,
                .nodes = kTracedNodes,
                .unit = "records",
                .goal = {Goal::Of::Median, 0},
                .ours = {static_cast<double>(lost_in(reader))}});
  }
}

}  // namespace

void run_trace_file(const Options& options, Report& report) {
  const test::TemporaryFolder folder;
  const trace::GraphVersion graph = layered_graph(kTracedNodes);
  struct Kind {
    const char* name;
    Times times;
  };
  for (const Kind& kind : {Kind{"steady", Times::Steady}, Kind{"wild", Times::Wild}}) {
    const std::vector<trace::SampleBlock> blocks =
        sample_blocks(graph, 1, options.is_quick() ? 100 : 2'000, kind.times);
    const std::filesystem::path file = folder.path() / "samples.reprise";
    Line written{.what = "queued, packed and written",
                 .shape = kind.name,
                 .nodes = kTracedNodes,
                 .unit = "ns/sample",
                 .goal = {Goal::Of::Median, 50}};
    for (std::uint32_t i = 0; i < (options.is_quick() ? 2u : 9u); ++i)
      written.ours.push_back(write_once(graph, blocks, file));
    report.add(written);
    const trace::TraceReader reader(file);
    report.add({.what = "on disk",
                .shape = kind.name,
                .nodes = kTracedNodes,
                .unit = "bytes/sample",
                .goal = {Goal::Of::Median, 8},
                .ours = {bytes_a_sample(reader)}});
    Line read{.what = "read", .shape = kind.name, .nodes = kTracedNodes, .unit = "ns/sample"};
    for (std::uint32_t i = 0; i < (options.is_quick() ? 2u : 9u); ++i) {
      read.ours.push_back(cpu_ns_of([&] {
                            for (const trace::ChunkEntry& c : reader.chunks())
                              static_cast<void>(reader.read(c));
                          }) /
                          static_cast<double>(samples_in(reader)));
    }
    report.add(read);
  }
}

void run_trace_replays(const Options& options, Report& report) {
  const unsigned steps = steps_of_a_node();
  for (const Shape& shape : {chain_shape(kTracedNodes), layer_shape(kTracedNodes, 32, 2)})
    measure_tracing(shape, steps, options, report);
}

}  // namespace reprise::bench
