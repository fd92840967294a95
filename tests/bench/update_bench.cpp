#ifdef REPRISE_HAS_CUDA

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "gpu.hpp"
#include "raw_graph.hpp"
#include "shapes.hpp"

namespace reprise::bench {

namespace {

// A Reprise chain and a raw one; the middle node of the former has a slot for its value.
class Chains {
 public:
  Chains(const Instance& instance, std::uint32_t nodes, const Lowering& lowering)
      : lowering_(lowering.segments ? "auto" : "nodes"),
        device_(instance.open_device(DeviceSelector::named("cuda:0"))),
        current_(device_),
        shape_(chain_shape(nodes)) {
    kernels_ = load_node_kernels(device_);
    queue_ = device_.create_queue({.label = "bench"});
    pool_ = device_.create_pool();
    for (std::uint32_t i = 0; i < nodes; ++i)
      state_.push_back(pool_->allocate<float>(1, "state " + std::to_string(i)));
    graph_ = device_.compile(record(0), {.pool = pool_, .lowering = lowering});
    graph_.upload(queue_);
    raw_state_ = pool_->allocate<float>(nodes, "raw");
    raw_ = make_raw(0);
    raw_->instantiate();
    REPRISE_BENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    wait();
    std::size_t count = nodes;
    raw_nodes_.resize(nodes);
    REPRISE_BENCH_CUDA(cudaGraphGetNodes(raw_->graph(), raw_nodes_.data(), &count));
  }
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;
  ~Chains() {
    wait();
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] CommandBuffer record(std::uint32_t value) const {
    CommandBuffer commands = device_.create_command_buffer({.label = "chain"});
    commands.begin();
    const DispatchDesc desc{.grid = 1, .block = 32};
    for (std::uint32_t i = 0; i < shape_.size(); ++i) {
      if (i == 0) {
        commands.dispatch(kernels_[0], desc, value, write(state_[0]));
      } else if (i == middle()) {
        commands.dispatch(kernels_[1], desc, slot("value", value), write(state_[i]),
                          read(state_[i - 1]));
      } else {
        commands.dispatch(kernels_[1], desc, value, write(state_[i]), read(state_[i - 1]));
      }
    }
    commands.end();
    return commands;
  }
  [[nodiscard]] std::unique_ptr<RawGraph> make_raw(std::uint32_t value) const {
    return std::make_unique<RawGraph>(
        RawGraphDesc{&shape_, &raw_kernels_, raw_state_.data(), value});
  }
  // cudaGraphExecKernelNodeSetParams of the middle node.
  void set_raw(std::uint32_t value) const {
    float *own = raw_state_.data() + middle(), *before = own - 1;
    void* arguments[] = {&value, &own, &before};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(raw_kernels_.of_parents(1));
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    REPRISE_BENCH_CUDA(
        cudaGraphExecKernelNodeSetParams(raw_->exec(), raw_nodes_[middle()], &params));
  }
  // Rebuilds the graph with another value in every node, updates with it, and destroys it.
  void exec_update_raw(std::uint32_t value) const { update_raw(*make_raw(value)); }
  void update_raw(const RawGraph& next) const {
    cudaGraphExecUpdateResultInfo info = {};
    REPRISE_BENCH_CUDA(cudaGraphExecUpdate(raw_->exec(), next.graph(), &info));
  }
  void instantiate_raw(std::uint32_t value) {
    auto next = make_raw(value);
    next->instantiate();
    raw_.swap(next);
    std::size_t count = raw_nodes_.size();
    REPRISE_BENCH_CUDA(cudaGraphGetNodes(raw_->graph(), raw_nodes_.data(), &count));
  }

  [[nodiscard]] const std::string& lowering() const { return lowering_; }
  [[nodiscard]] std::uint32_t size() const { return shape_.size(); }
  [[nodiscard]] std::uint32_t middle() const { return shape_.size() / 2; }
  [[nodiscard]] CapturedGraph& graph() { return graph_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] const std::shared_ptr<CapturePool>& pool() const { return pool_; }
  [[nodiscard]] const std::vector<GpuRef<float>>& state() const { return state_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  void launch_raw() const { raw_->launch(stream_); }
  void wait() const {
    queue_.wait_idle();
    REPRISE_BENCH_CUDA(cudaDeviceSynchronize());
  }

 private:
  const std::string lowering_;
  const Device device_;
  const CurrentDevice current_;
  const Shape shape_;
  NodeKernels kernels_;
  RawKernels raw_kernels_;
  Queue queue_;
  std::shared_ptr<CapturePool> pool_;
  std::vector<GpuRef<float>> state_;
  GpuRef<float> raw_state_;
  CapturedGraph graph_;
  std::unique_ptr<RawGraph> raw_;
  std::vector<cudaGraphNode_t> raw_nodes_;
  cudaStream_t stream_ = nullptr;
};

// Empty without a GPU.
std::unique_ptr<Chains> make_chains(const Options& options, const Lowering& lowering) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return nullptr;
  return std::make_unique<Chains>(instance, options.is_quick() ? 100u : 1000u, lowering);
}

// A chain is one segment by Auto; its nodes are the peer of that.
constexpr Lowering kLowerings[] = {Lowering::Auto, Lowering::Auto.without_segments()};

Line line_of(const Chains& chains, const char* what, const char* unit, const char* peer,
             Goal goal = {}) {
  Line line;
  line.what = what;
  line.shape = "chain";
  line.nodes = chains.size();
  line.unit = unit;
  line.peer = peer;
  line.goal = goal;
  line.axes["lowering"] = chains.lowering();
  return line;
}

void update_scalar(const Options& options, const Lowering& lowering, Report& report) {
  const std::unique_ptr<Chains> chains = make_chains(options, lowering);
  if (!chains) return;
  constexpr std::uint32_t kSets = 1000;
  std::uint32_t value = 0;  // distinct in every update
  const auto each = [&](std::uint32_t count, const auto& act) {
    chains->wait();
    return ns_of([&] {
             for (std::uint32_t i = 0; i < count; ++i) act();
           }) /
           count;
  };
  GraphScalar<unsigned> scalar = chains->graph().scalar<unsigned>("value");
  Line set = line_of(*chains, "set one scalar", "ns", "cudaGraphExecKernelNodeSetParams");
  measure_pairs(
      set, pairs(options), [&] { return each(kSets, [&] { scalar.set(++value); }); },
      [&] { return each(kSets, [&] { chains->set_raw(++value); }); });
  report.add(set);
  Line same = line_of(*chains, "set a scalar to its current value", "ns", "");
  static_cast<void>(scalar.set(1));
  for (std::uint32_t i = 0; i < pairs(options); ++i)
    same.ours.push_back(each(kSets, [&] { scalar.set(1); }));
  report.add(same);
  Line launch = line_of(*chains, "set one scalar and launch", "us", "raw calls");
  constexpr std::uint32_t kReplays = 20;
  measure_pairs(
      launch, pairs(options),
      [&] {
        return 1e-3 * each(kReplays, [&] {
                 scalar.set(++value);
                 static_cast<void>(chains->graph().launch(chains->queue()));
               });
      },
      [&] {
        return 1e-3 * each(kReplays, [&] {
                 chains->set_raw(++value);
                 chains->launch_raw();
               });
      });
  report.add(launch);

  DeviceScalar<unsigned> cell(*chains->pool(), chains->queue(), 0, "cell");
  const auto raw_cell = chains->pool()->allocate<unsigned>(1, "raw cell");
  const auto staged = chains->pool()->host<unsigned>(1, "staged");
  Line write = line_of(*chains, "set a DeviceScalar", "ns", "cudaMemcpyAsync from pinned memory");
  constexpr std::uint32_t kWrites = 500;
  measure_pairs(
      write, pairs(options), [&] { return each(kWrites, [&] { cell.set(++value); }); },
      [&] {
        return each(kWrites, [&] {
          staged[0] = ++value;
          REPRISE_BENCH_CUDA(cudaMemcpyAsync(raw_cell.data(), staged.data(), sizeof(unsigned),
                                             cudaMemcpyHostToDevice, chains->stream()));
        });
      });
  report.add(write);
}

void update_graph(const Options& options, const Lowering& lowering, Report& report) {
  const std::unique_ptr<Chains> chains = make_chains(options, lowering);
  if (!chains) return;
  const auto us_of = [&](const auto& act) {
    chains->wait();
    return 1e-3 * ns_of(act);
  };
  std::uint32_t value = 0;

  const auto& state = chains->state();
  std::vector<BufferBinding> bindings;
  for (const auto& buffer : state) bindings.push_back({buffer, buffer});
  const auto other = chains->pool()->allocate<float>(1, "other");
  bool is_other = false;
  Line rebind =
      line_of(*chains, "bind all buffers, one changed", "us", "cudaGraphExecKernelNodeSetParams");
  measure_pairs(
      rebind, pairs(options),
      [&] {
        is_other = !is_other;
        bindings.back().buffer = is_other ? other : state.back();
        std::uint32_t touched = 0;
        const double us = us_of([&] { touched = chains->graph().rebind(bindings).nodes; });
        if (touched != 1) std::printf("  updated %u nodes, expected 1\n", touched);
        return us;
      },
      [&] { return us_of([&] { chains->set_raw(++value); }); });
  report.add(rebind);

  const auto update_line = [&](const char* what, const char* peer, Goal goal,
                               const UpdateDesc& desc, UpdateMethod expected, const auto& change,
                               const auto& by_hand) {
    Line line = line_of(*chains, what, "us", peer, goal);
    const auto ours = [&] {
      const CommandBuffer commands = change();
      UpdateReport done;
      const double us = us_of([&] { done = chains->graph().update(commands, desc); });
      if (done.method != expected)
        std::printf("  used the method \"%s\": %s\n", std::string(to_string(done.method)).c_str(),
                    done.reason.c_str());
      return us;
    };
    measure_pairs(line, pairs(options), ours, [&] { return us_of(by_hand); });
    report.add(line);
  };
  const auto all_new = [&] { return chains->record(++value); };
  const UpdateDesc whole{.first = UpdateMethod::WholeGraph, .last = UpdateMethod::WholeGraph};
  // Reprise validates, plans and applies an existing recording; the CUDA peer builds a graph from
  // scratch, updates with it, and destroys it.
  const char* const peer = "build, cudaGraphExecUpdate, destroy";
  update_line("exec_update of a recording", peer, {Goal::Of::Ratio, 1.1}, whole,
              UpdateMethod::WholeGraph, all_new, [&] { chains->exec_update_raw(++value); });
  Line recorded = line_of(*chains, "record and exec_update", "us", peer);
  measure_pairs(
      recorded, pairs(options),
      [&] {
        return us_of(
            [&] { static_cast<void>(chains->graph().update(chains->record(++value), whole)); });
      },
      [&] { return us_of([&] { chains->exec_update_raw(++value); }); });
  report.add(recorded);
  update_line("update, every node is different", peer, {}, {.last = UpdateMethod::Nodes},
              UpdateMethod::Nodes, all_new, [&] { chains->exec_update_raw(++value); });
  // The parts of the peer's time.
  Line build = line_of(*chains, "of the peer: build", "us", ""),
       take = line_of(*chains, "of the peer: cudaGraphExecUpdate", "us", ""),
       destroy = line_of(*chains, "of the peer: destroy", "us", "");
  for (std::uint32_t i = 0; i < pairs(options); ++i) {
    std::unique_ptr<RawGraph> next;
    build.ours.push_back(us_of([&] { next = chains->make_raw(++value); }));
    take.ours.push_back(us_of([&] { chains->update_raw(*next); }));
    destroy.ours.push_back(us_of([&] { next.reset(); }));
  }
  for (const Line& part : {build, take, destroy}) report.add(part);
  const std::uint32_t now = value;
  static_cast<void>(chains->graph().update(chains->record(now)));
  Line same = line_of(*chains, "update by the same recording", "us", "");
  for (std::uint32_t i = 0; i < pairs(options); ++i) {
    const CommandBuffer commands = chains->record(now);
    same.ours.push_back(us_of([&] { static_cast<void>(chains->graph().update(commands)); }));
  }
  report.add(same);
  update_line("update by a new executable", "build the graph, cudaGraphInstantiate", {},
              {.first = UpdateMethod::Reinstantiated}, UpdateMethod::Reinstantiated, all_new,
              [&] { chains->instantiate_raw(++value); });
}

}  // namespace

void run_update_scalar(const Options& options, Report& report) {
  for (const Lowering& lowering : kLowerings) update_scalar(options, lowering, report);
}

void run_update_graph(const Options& options, Report& report) {
  for (const Lowering& lowering : kLowerings) update_graph(options, lowering, report);
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA
