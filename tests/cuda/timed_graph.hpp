// A graph on a GPU whose replays and nodes are timed without a trace, shared by the ReplaySource
// tests. Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <gpu_kernels.shaders.hpp>

#include "backend/backend.hpp"
#include "base/handle_access.hpp"
#include "cuda/gpu.hpp"
#include "plan/timing_layout.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::test {

inline constexpr auto kClose = detail::ReplaySource::Precision::Close;

// Keeps all reported replays.
class CollectedReplays final : public detail::ReplayObserver {
 public:
  struct Replay {
    std::uint64_t replay = 0;
    std::int64_t started = 0, ended = 0;
    std::vector<detail::NodeTime> nodes;  // empty: not timed
  };
  explicit CollectedReplays(std::size_t nodes) : nodes_(nodes) {}
  [[nodiscard]] detail::NodeTime* begin_replay(std::uint64_t) noexcept override {
    storage_.assign(nodes_, {});
    return storage_.data();
  }
  void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                  detail::NodeTime* nodes) noexcept override {
    replays.push_back(
        {replay, started, ended, nodes == nullptr ? std::vector<detail::NodeTime>{} : storage_});
  }
  std::vector<Replay> replays;

 private:
  const std::size_t nodes_;
  std::vector<detail::NodeTime> storage_;
};

// A graph, and a second executable of its plan with timestamps.
struct Timed : Gpu {
  CapturedGraph graph;
  std::unique_ptr<detail::BackendExec> exec;
  std::shared_ptr<detail::ReplaySource> source;
  std::uint64_t launched = 0;

  void make(const CommandBuffer& commands, Lowering lowering = Lowering::Auto,
            detail::Instrumentation instrumentation = detail::Instrumentation::Timestamps) {
    graph = device.compile(commands, {.pool = pool, .lowering = lowering});
    detail::Bindings bindings;
    for (const auto& buffer : plan().recording->buffers)
      bindings.address.push_back(buffer->address);
    const std::shared_ptr<const detail::Plan> shared(detail::core_of(graph), &plan());
    exec = detail::core_of(device)->backend().instantiate(shared, bindings, instrumentation);
    source = exec->replay_source();
    REQUIRE(source);
  }
  ~Timed() {
    if (device) queue.wait_idle();
  }
  [[nodiscard]] const detail::Plan& plan() const { return detail::core_of(graph)->plan(); }
  [[nodiscard]] CollectedReplays collector() const {
    return CollectedReplays(detail::timing_layout(plan()).slots);
  }
  void launch(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i)
      static_cast<void>(exec->launch(detail::core_of(queue)->backend()));
    launched += times;
  }
  void wait() const { detail::core_of(queue)->backend().mark(), queue.wait_idle(); }
};

// Checks node times: they lie within their replay and after their predecessors, and every command
// has one.
inline void check_nodes(const Timed& timed, const CollectedReplays::Replay& replay) {
  const detail::LoweredGraph& lowered = timed.plan().lowered;
  REQUIRE(replay.nodes.size() == detail::timing_layout(timed.plan()).slots);
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    CAPTURE(node);
    const detail::NodeTime& time = replay.nodes[node];
    if (lowered.nodes[node].kind != detail::LoweredKind::Work) {
      CHECK(time.started == 0);
      continue;
    }
    const std::int64_t ended = time.started + time.duration;
    CHECK(time.started >= replay.started);
    CHECK(ended <= replay.ended + 1);  // both were rounded
    for (const detail::LoweredEdge& edge : lowered.edges_into(node)) {
      if (lowered.nodes[edge.from].kind != detail::LoweredKind::Work) continue;
      CHECK(time.started + 1 >= replay.nodes[edge.from].started + replay.nodes[edge.from].duration);
    }
  }
}

inline void record_counters(CommandBuffer& cmd, const Kernel& kernel,
                            const GpuRef<unsigned long long>& values, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i)
    cmd.dispatch(kernel, {.grid = 1, .block = 1}, read_write(values.slice(i, 1)));
}

}  // namespace reprise::test
