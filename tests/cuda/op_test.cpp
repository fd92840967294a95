// Ops that use CUDA directly: captured work, refused work, and clean-up.
#include <reprise/cuda_interop.hpp>
#include <reprise/graph_op.hpp>

#include <functional>
#include <stdexcept>
#include <utility>

#include "cuda/gpu.hpp"
#include "record/rank_agreement.hpp"

namespace reprise::test {
namespace {

class Captured final : public GraphOp {
 public:
  using Record = std::function<void(GraphRecordCtx&, cudaStream_t)>;
  Captured(std::vector<AccessedView> uses, Record record, detail::RankAgreement* ranks = nullptr)
      : uses_(std::move(uses)), record_(std::move(record)), ranks_(ranks) {}
  [[nodiscard]] std::string_view op_name() const noexcept override { return "captured"; }
  void declare(GraphOpDeclaration& declaration) const override {
    CHECK(declaration.device_kind() == DeviceKind::Cuda);
    for (const AccessedView& use : uses_) declaration.use(use);
  }
  void record(GraphRecordCtx& ctx) const override {
    record_(ctx, static_cast<cudaStream_t>(ctx.native_stream()));
  }
  [[nodiscard]] detail::RankAgreement* ranks() const noexcept override { return ranks_; }

 private:
  std::vector<AccessedView> uses_;
  Record record_;
  detail::RankAgreement* ranks_;
};

// Ranks with the same collectives.
class AgreeingRanks final : public detail::RankAgreement {
 public:
  void compare(std::string_view, std::uint64_t, std::span<const Collective>) override {}
  void compare_outcomes(std::uint64_t, const std::string&) override {}
  std::vector<Message> exchange(std::uint64_t, std::string) override { return {}; }
  void record_launch(std::uint64_t, std::uint64_t, std::uint32_t,
                     const std::shared_ptr<const Graph>&) override {}
  [[nodiscard]] const BufferView& order() const noexcept override { return order_; }
  void require_all_ranks() const override {}
  const std::uint32_t* lost_word() const noexcept override { return nullptr; }
  Traced traced(const GraphOp&, std::uint64_t) const override { return {}; }
  std::vector<ClockExchange> take_clock_exchanges() override { return {}; }

 private:
  BufferView order_;
};

std::size_t node_count(const CapturedGraph& graph) {
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(native_graph(graph), nullptr, &count) == cudaSuccess);
  return count;
}

}  // namespace

TEST_CASE("cuda op: work in its stream becomes one child graph, including joined forks") {
  if (!have_gpu()) return;
  const Gpu t;
  const auto x = t.pool->allocate<unsigned>(256, "x"), y = t.pool->allocate<unsigned>(256, "y");
  cudaStream_t side = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming) == cudaSuccess);
  }
  const CudaState before = cuda_state();
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.fill(x, 5u);
    cmd.add(Captured({read_write(x), write(y)}, [&](GraphRecordCtx& ctx, cudaStream_t stream) {
      CHECK(cudaMemcpyAsync(ctx.address(y), ctx.address(x), 512, cudaMemcpyDeviceToDevice,
                            stream) == cudaSuccess);
      CHECK(cudaEventRecord(forked, stream) == cudaSuccess);
      CHECK(cudaStreamWaitEvent(side, forked, 0) == cudaSuccess);
      CHECK(cudaMemsetAsync(ctx.address(x), 0, 1024, side) == cudaSuccess);
      CHECK(cudaMemcpyAsync(ctx.address(y) + 128, ctx.address(y), 512, cudaMemcpyDeviceToDevice,
                            stream) == cudaSuccess);
      CHECK(cudaEventRecord(joined, side) == cudaSuccess);
      CHECK(cudaStreamWaitEvent(stream, joined, 0) == cudaSuccess);
    }));
  });
  CHECK(cuda_state() == before);
  CHECK(cudaEventDestroy(forked) == cudaSuccess);
  CHECK(cudaEventDestroy(joined) == cudaSuccess);
  CHECK(cudaStreamDestroy(side) == cudaSuccess);
  CHECK(node_count(graph) == 2);
  for (int replay = 0; replay < 3; ++replay) graph.launch(t.queue).wait();
  CHECK(t.read(x) == std::vector<unsigned>(256, 0));
  CHECK(t.read(y) == std::vector<unsigned>(256, 5));
}

TEST_CASE("cuda op: an op that allocates memory is refused by name") {
  if (!have_gpu()) return;
  const Gpu t;
  const auto x = t.pool->allocate<unsigned>(256, "x");
  const CudaState before = cuda_state();
  std::string text;
  const ErrorDetails details = error_of(
      [&] {
        static_cast<void>(t.compile([&](CommandBuffer& cmd) {
          cmd.fill(x, 1u);
          cmd.add(Captured({read_write(x)}, [](GraphRecordCtx&, cudaStream_t stream) {
            void* memory = nullptr;
            CHECK(cudaMallocAsync(&memory, 1024, stream) == cudaSuccess);
            CHECK(cudaFreeAsync(memory, stream) == cudaSuccess);
          }));
        }));
      },
      &text);
  CHECK(details.code == ErrorCode::Unsupported);
  CHECK(details.command == 1);
  CHECK(text.find("op captured") != std::string::npos);
  CHECK(text.find("memory") != std::string::npos);
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda op: a loop refuses an op with nodes that it cannot contain, by their kind") {
  if (!have_gpu()) return;
  const Gpu t;
  const auto x = t.pool->allocate<unsigned>(256, "x");
  cudaEvent_t event = nullptr;
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  }
  const auto secondary = [&](const std::function<void(CommandBuffer&)>& commands) {
    CommandBuffer body =
        t.device.create_command_buffer({.label = "body", .level = Level::Secondary});
    body.begin();
    commands(body);
    body.end();
    return body;
  };
  const auto refusal = [&](const CommandBuffer& body) {
    const Condition go = t.device.create_condition({.name = "go", .initial = 1});
    std::string text;
    const ErrorDetails details = error_of(
        [&] {
          static_cast<void>(t.compile(
              [&](CommandBuffer& cmd) { cmd.execute_while(go, body, {.max_iterations = 2}); }));
        },
        &text);
    CHECK(details.code == ErrorCode::Unsupported);
    CHECK(text.find("op captured captures a node of the kind ") != std::string::npos);
    return text;
  };
  const Captured::Record call_host = [](GraphRecordCtx&, cudaStream_t stream) {
    CHECK(cudaLaunchHostFunc(
              stream, [](void*) {}, nullptr) == cudaSuccess);
  };
  const Captured::Record record_event = [&](GraphRecordCtx&, cudaStream_t stream) {
    CHECK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal) == cudaSuccess);
  };
  const Captured::Record wait_for_event = [&](GraphRecordCtx&, cudaStream_t stream) {
    CHECK(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal) == cudaSuccess);
  };
  AgreeingRanks ranks;
  const CudaState before = cuda_state();
  const struct {
    const Captured::Record& record;
    const char *kind, *cause;
  } cases[] = {{call_host, "host callback", "NCCL needs the host"},
               {record_event, "event record", "NCCL_GRAPH_MIXING_SUPPORT"},
               {wait_for_event, "event wait", "NCCL_GRAPH_MIXING_SUPPORT"}};
  for (const auto& one : cases) {
    CAPTURE(one.kind);
    const CommandBuffer body =
        secondary([&](CommandBuffer& cmd) { cmd.add(Captured({write(x)}, one.record)); });
    const std::string text = refusal(body);
    CHECK(text.find(one.kind) != std::string::npos);
    CHECK(text.find("NCCL") == std::string::npos);
    CHECK(refusal(secondary([&](CommandBuffer& cmd) {
            cmd.execute(body, Nested);
          })).find(one.kind) != std::string::npos);
    CHECK(refusal(secondary([&](CommandBuffer& cmd) {
            cmd.add(Captured({write(x)}, one.record, &ranks));
          })).find(one.cause) != std::string::npos);
    // Outside of loops, also in a nested graph, these nodes may be.
    t.run([&](CommandBuffer& cmd) { cmd.execute(body, Nested); });
  }
  CHECK(cuda_state() == before);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
}

TEST_CASE("cuda op: an unjoined fork is refused, and the next op is not affected") {
  if (!have_gpu()) return;
  const Gpu t;
  const auto x = t.pool->allocate<unsigned>(256, "x");
  cudaStream_t side = nullptr;
  cudaEvent_t forked = nullptr;
  {
    const CurrentDevice current(t.device);
    REQUIRE(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming) == cudaSuccess);
  }
  const ErrorDetails details = error_of([&] {
    static_cast<void>(t.compile([&](CommandBuffer& cmd) {
      cmd.add(Captured({read_write(x)}, [&](GraphRecordCtx& ctx, cudaStream_t stream) {
        CHECK(cudaEventRecord(forked, stream) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(side, forked, 0) == cudaSuccess);
        CHECK(cudaMemsetAsync(ctx.address(x), 0, 1024, side) == cudaSuccess);
      }));
    }));
  });
  CHECK(details.native_call == "cudaStreamEndCapture");
  CHECK(details.native_name == "cudaErrorStreamCaptureUnjoined");
  CHECK(cudaEventDestroy(forked) == cudaSuccess);
  CHECK(cudaStreamDestroy(side) == cudaSuccess);
  t.run([&](CommandBuffer& cmd) {
    cmd.add(Captured({write(x)}, [&](GraphRecordCtx& ctx, cudaStream_t stream) {
      CHECK(cudaMemsetAsync(ctx.address(x), 1, 1024, stream) == cudaSuccess);
    }));
  });
  CHECK(t.read(x) == std::vector<unsigned>(256, 0x01010101u));
}

TEST_CASE("cuda op: an exception of an op propagates unchanged and ends its capture") {
  if (!have_gpu()) return;
  const Gpu t;
  const auto x = t.pool->allocate<unsigned>(256, "x");
  const CudaState before = cuda_state();
  CHECK_THROWS_WITH_AS(
      static_cast<void>(t.compile([&](CommandBuffer& cmd) {
        cmd.add(Captured({write(x)}, [&](GraphRecordCtx& ctx, cudaStream_t stream) {
          CHECK(cudaMemsetAsync(ctx.address(x), 0, 1024, stream) == cudaSuccess);
          throw std::runtime_error("an error of the op");
        }));
      })),
      "an error of the op", std::runtime_error);
  CHECK(cuda_state() == before);
  t.run([&](CommandBuffer& cmd) { cmd.fill(x, 3u); });
  CHECK(t.read(x) == std::vector<unsigned>(256, 3));
}

}  // namespace reprise::test
