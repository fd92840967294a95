// The training on a device: three graphs, recorded and compiled once and replayed for every step.
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <reprise/collectives.hpp>
#include <reprise/ops/rng_op.hpp>
#include <reprise/reprise.hpp>

#include "digit_set.hpp"
#include "network.hpp"

namespace digits {

struct Evaluation {
  double mean_loss = 0;  // mean over the batches since the last evaluation; 0 if there were none
  std::uint32_t correct = 0;  // correctly classified held-out rows
  std::uint32_t steps = 0;    // counted by the device
};

class Trainer {
 public:
  // The ranks of `world` divide the microbatches of each step, and then have the same weights. A
  // replay performs `steps_of_replay` steps. Throws std::runtime_error unless the microbatches
  // divide evenly.
  Trainer(const reprise::Device& device, const DigitSplit& digits, const TrainingSchedule& schedule,
          const reprise::Communicator& world, std::uint32_t steps_of_replay = 1);

  void train(std::uint32_t replays);         // does not wait
  void wait() const;                         // until the steps are done
  [[nodiscard]] Evaluation evaluate();       // waits
  [[nodiscard]] Weights<float> read_back();  // waits
  // The value of the first rank; waits.
  [[nodiscard]] std::uint64_t of_first_rank(std::uint64_t value) const;
  [[nodiscard]] const reprise::CapturedGraph& step() const noexcept { return step_; }

 private:
  struct Kernels {
    reprise::Kernel gather_rows, activate, softmax_cross_entropy, tanh_slope, momentum_step,
        count_step, count_correct;
  };
  using Gradients =
      std::array<reprise::GpuRef<float>, kDepth>;  // per layer: one slice per microbatch

  [[nodiscard]] reprise::CapturedGraph compile(
      const reprise::CommandBuffer& commands,
      reprise::Lowering lowering = reprise::Lowering::Auto) const;
  [[nodiscard]] reprise::CommandBuffer record_start(const DigitSplit& digits);
  [[nodiscard]] reprise::CommandBuffer record_steps();
  void record_step(reprise::CommandBuffer& commands);
  // `moves`: one random value per row of the batch.
  void record_microbatch(reprise::CommandBuffer& commands, std::uint32_t microbatch,
                         const Gradients& gradients, const reprise::GpuRef<float>& loss,
                         const reprise::GpuRef<float>& moves);
  [[nodiscard]] reprise::CommandBuffer record_evaluation();
  [[nodiscard]] reprise::CommandBuffer record_read_back();
  // The layer's output for `rows` rows of x: the next layer's input, or the logits after the last
  // layer.
  [[nodiscard]] reprise::GpuRef<float> dense(reprise::CommandBuffer& commands, std::size_t layer,
                                             const reprise::GpuRef<float>& x,
                                             std::uint32_t rows) const;

  reprise::Device device_;
  reprise::Communicator world_;
  TrainingSchedule schedule_;
  std::uint32_t steps_of_replay_;
  Kernels kernels_;
  std::shared_ptr<reprise::CapturePool> pool_;
  reprise::GpuRef<float> images_, held_out_images_;
  reprise::GpuRef<std::uint32_t> labels_, held_out_labels_;
  std::array<reprise::GpuRef<float>, kDepth> weights_, velocity_;
  reprise::GpuRef<float> running_loss_;
  reprise::GpuRef<std::uint32_t> step_counter_, correct_;
  reprise::HostRef<float> loss_result_;
  reprise::HostRef<std::uint32_t> correct_result_, step_result_;
  std::array<reprise::HostRef<float>, kDepth> weights_result_;
  reprise::Queue queue_;
  reprise::RngStream random_;  // for the shifts
  reprise::CapturedGraph step_, evaluation_, read_back_;
  std::uint32_t steps_since_evaluation_ = 0;
};

}  // namespace digits
