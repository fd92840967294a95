// Random numbers as ops: Philox4x32-10, a counter-based generator (J. Salmon et al., Parallel
// random numbers: as easy as 1, 2, 3, SC 2011). The position of a stream is in device memory and
// advances with every replay. Equal seeds and positions give equal values on every device: uniform
// values bit for bit, normal values within 2 units in the last place. On GPUs, a fill of at most
// 4,096 values is one kernel, which segments may contain. Target reprise::ops. Threads:
// handles are values; ops of one stream are ordered like other commands that write one buffer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/device.hpp>
#include <reprise/graph_op.hpp>

namespace reprise::inline REPRISE_ABI {

struct RngStreamDesc {
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;  // different subsequences of one seed share no values
  std::uint64_t position = 0;     // of the first value
  std::string_view label = "rng";
  // Replicas of graphs that use the stream (CompileDesc::replicas). Replica i has its own position
  // in subsequence + i, so that replicas share no values.
  std::uint32_t replicas = 1;
};

// A reference-counted handle to the state of a stream.
class REPRISE_API RngStream {
 public:
  RngStream() = default;
  // Allocates the state, and writes it by a launch on `queue`, for which later launches on other
  // queues wait.
  RngStream(const Device& device, const Queue& queue, const RngStreamDesc& desc = {});

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(state_); }
  // Sets the position of the next value, by a launch or by a command.
  Fence seek(const Queue& queue, std::uint64_t position);
  CommandRef seek(Recorder& recorder, std::uint64_t position,
                  SourceLocation where = SourceLocation::current());
  // The position after everything that has been launched on `queue`. Blocks until that has
  // completed.
  [[nodiscard]] std::uint64_t position(const Queue& queue) const;

  // The stream of replica `i`, to seek in it or to query its position. Throws OutOfRange.
  [[nodiscard]] RngStream replica(std::uint32_t i) const;

  // Seed, subsequence and position. Each op of the stream reads and writes them.
  [[nodiscard]] const GpuRef<std::uint64_t>& state() const noexcept { return state_; }
  struct Kernels {
    Kernel uniform, normal, advance;
  };
  [[nodiscard]] const Kernels& kernels() const noexcept { return kernels_; }

 private:
  Device device_;
  GpuRef<std::uint64_t> state_;
  Kernels kernels_;
};

struct RngFillUniformDesc {
  GpuRef<float> destination = {};
  RngStream stream = {};
  float low = 0, high = 1;  // low + u * (high - low); u: a multiple of 2^-24 in [0, 1)
};

class REPRISE_API RngFillUniformOp final : public GraphOp {
 public:
  explicit RngFillUniformOp(RngFillUniformDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "rng_fill_uniform"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  RngFillUniformDesc desc_;
};

struct RngFillNormalDesc {
  GpuRef<float> destination = {};
  RngStream stream = {};
  float mean = 0, deviation = 1;
};

class REPRISE_API RngFillNormalOp final : public GraphOp {
 public:
  explicit RngFillNormalOp(RngFillNormalDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "rng_fill_normal"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  RngFillNormalDesc desc_;
};

// One block of the generator: the four words that the ops convert to values.
[[nodiscard]] REPRISE_API std::array<std::uint32_t, 4> philox4x32_10(
    const std::array<std::uint32_t, 4>& counter, const std::array<std::uint32_t, 2>& key) noexcept;

}  // namespace reprise::inline REPRISE_ABI
