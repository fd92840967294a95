// Random numbers as commands: Philox4x32-10, counter based. A stream's position is in device memory
// and moves on with every replay; the same seed and position give the same values on every device:
// uniform ones bit for bit, normal ones within 2 units in the last place. Target reprise::ops.
// Threads: a stream is a value that shares its state; its ops are ordered like other commands that
// write one buffer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <reprise/device.hpp>
#include <reprise/graph_op.hpp>

namespace reprise {

struct RngStreamDesc {
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;  // streams of one seed with different ones share no values
  std::uint64_t position = 0;     // of the value that comes first
  std::string_view label = "rng";
  // Of graphs that draw from it (CompileDesc::instances): instance i has a position of its own in
  // subsequence + i, so that instances share no values and each goes on where its own last replay
  // ended.
  std::uint32_t replicas = 1;
};

class RngStream {
 public:
  RngStream() = default;
  // Puts the position into device memory by a launch on `queue`, which later launches on other
  // queues wait for.
  RngStream(const Device& device, const Queue& queue, const RngStreamDesc& desc = {});

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(state_); }
  // From then on the next value is the one at `position`: by a launch now, or by a command.
  Fence seek(const Queue& queue, std::uint64_t position) const;
  CommandRef seek(Recorder& recorder, std::uint64_t position,
                  SourceLocation where = SourceLocation::current()) const;
  // Where the stream is after everything launched on `queue` so far; waits for it.
  [[nodiscard]] std::uint64_t position(const Queue& queue) const;

  // What instance `i` of a graph draws from, as a stream of its own: to seek in it, or ask for its
  // position. Throws OutOfRange.
  [[nodiscard]] RngStream instance(std::uint32_t i) const;

  // Seed, subsequence, position. Each op of the stream reads and writes it.
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
  float low = 0, high = 1;  // values are low + u * (high - low), u a multiple of 2^-24 in [0, 1)
};

class RngFillUniformOp final : public GraphOp {
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

class RngFillNormalOp final : public GraphOp {
 public:
  explicit RngFillNormalOp(RngFillNormalDesc desc);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "rng_fill_normal"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  RngFillNormalDesc desc_;
};

// Four words of the generator: what the ops make values of, four at a time.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32_10(
    const std::array<std::uint32_t, 4>& counter, const std::array<std::uint32_t, 2>& key) noexcept;

}  // namespace reprise
