#include "trainer.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <reprise/ops/array_op.hpp>
#include <reprise/ops/gemm_op.hpp>

#include "training.shaders.hpp"

namespace digits {

using reprise::ceil_div;
using reprise::CommandBuffer;
using reprise::GpuRef;
using reprise::read;
using reprise::read_write;
using reprise::Transpose;
using reprise::write;

namespace {

constexpr std::uint32_t kThreads = 256;  // of a block
constexpr std::uint64_t kProductWorkspace = std::uint64_t{1}
                                            << 20;  // bytes; many small matrices run concurrently

// The rows of `pixels`, each followed by a one.
std::vector<float> with_ones(const std::vector<float>& pixels) {
  std::vector<float> rows;
  rows.reserve(pixels.size() / kPixels * kLayers[0].columns());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    rows.push_back(pixels[i]);
    if (i % kPixels == kPixels - 1) rows.push_back(1.0f);
  }
  return rows;
}

// Few values are left to one block, for which a segment need not count blocks.
reprise::DispatchDesc blocks_of(std::uint32_t values) {
  constexpr std::uint32_t kOneBlock = 8 * kThreads;
  return {.grid = values <= kOneBlock ? 1 : ceil_div(values, kThreads), .block = kThreads};
}

std::string numbered(const char* name, std::size_t number) {
  return std::string(name) + ' ' + std::to_string(number);
}

}  // namespace

Trainer::Trainer(const reprise::Device& device, const DigitSplit& digits,
                 const TrainingSchedule& schedule, const reprise::Communicator& world,
                 std::uint32_t steps_of_replay)
    : device_(device),
      world_(world),
      schedule_(schedule),
      steps_of_replay_(steps_of_replay),
      kernels_{.gather_rows = device.load_kernel(shaders::gather_rows),
               .activate = device.load_kernel(shaders::activate),
               .softmax_cross_entropy = device.load_kernel(shaders::softmax_cross_entropy),
               .tanh_slope = device.load_kernel(shaders::tanh_slope),
               .momentum_step = device.load_kernel(shaders::momentum_step),
               .count_step = device.load_kernel(shaders::count_step),
               .count_correct = device.load_kernel(shaders::count_correct)},
      pool_(device.create_pool({.label = "digits"})),
      images_(pool_->allocate<float>(digits.training.pixels.size(), "images")),
      held_out_images_(
          pool_->allocate<float>(digits.held_out.rows() * kLayers[0].columns(), "held-out images")),
      labels_(pool_->allocate<std::uint32_t>(digits.training.rows(), "labels")),
      held_out_labels_(pool_->allocate<std::uint32_t>(digits.held_out.rows(), "held-out labels")),
      running_loss_(pool_->allocate<float>(1, "running loss")),
      step_counter_(pool_->allocate<std::uint32_t>(1, "step counter")),
      correct_(pool_->allocate<std::uint32_t>(1, "correct")),
      loss_result_(pool_->host<float>(1, "loss result")),
      correct_result_(pool_->host<std::uint32_t>(1, "correct result")),
      step_result_(pool_->host<std::uint32_t>(1, "step result")),
      queue_(device.create_queue({.label = "training"})),
      random_(device, queue_, {.seed = schedule.seed, .label = "moves"}) {
  if (kMicrobatches % world.size() != 0)
    throw std::runtime_error(std::to_string(world.size()) + " ranks cannot share " +
                             std::to_string(kMicrobatches) + " microbatches evenly");
  for (std::size_t l = 0; l < kDepth; ++l) {
    weights_[l] = pool_->allocate<float>(kLayers[l].weights(), numbered("weights", l + 1));
    velocity_[l] = pool_->allocate<float>(kLayers[l].weights(), numbered("velocity", l + 1));
    weights_result_[l] =
        pool_->host<float>(kLayers[l].weights(), numbered("weights result", l + 1));
  }
  reprise::CapturedGraph start = compile(record_start(digits));
  step_ = compile(record_steps(), reprise::Lowering::Persistent);
  evaluation_ = compile(record_evaluation());
  read_back_ = compile(record_read_back());
  start.launch(queue_);
  step_.upload(queue_);
}

reprise::CapturedGraph Trainer::compile(const CommandBuffer& commands,
                                        reprise::Lowering lowering) const {
  return device_.compile(commands, {.pool = pool_, .lowering = lowering});
}

CommandBuffer Trainer::record_start(const DigitSplit& digits) {
  CommandBuffer commands = device_.create_command_buffer({.label = "start"});
  commands.begin();
  commands.copy(reprise::snapshot(digits.training.pixels), images_);
  commands.copy(reprise::snapshot(digits.training.labels), labels_);
  commands.copy(reprise::snapshot(with_ones(digits.held_out.pixels)), held_out_images_);
  commands.copy(reprise::snapshot(digits.held_out.labels), held_out_labels_);
  const Weights<float> first = first_weights(schedule_.seed);
  for (std::size_t l = 0; l < kDepth; ++l) {
    commands.copy(reprise::snapshot(first[l]), weights_[l]);
    commands.fill(velocity_[l], 0.0f);
  }
  commands.fill(running_loss_, 0.0f);
  commands.fill(step_counter_, 0u);
  commands.end();
  return commands;
}

CommandBuffer Trainer::record_steps() {
  CommandBuffer commands = device_.create_command_buffer({.label = "training step"});
  commands.begin();
  for (std::uint32_t s = 0; s < steps_of_replay_; ++s) record_step(commands);
  commands.end();
  return commands;
}

void Trainer::record_step(CommandBuffer& commands) {
  Gradients gradients;
  for (std::size_t l = 0; l < kDepth; ++l) {
    gradients[l] =
        pool_->transient<float>(kMicrobatches * kLayers[l].weights(), numbered("gradients", l + 1));
  }
  const auto loss = pool_->transient<float>(kBatchRows, "loss");
  const auto moves = pool_->transient<float>(kBatchRows, "moves");
  commands.add(reprise::RngFillUniformOp({.destination = moves, .stream = random_}));
  const std::uint32_t own = kMicrobatches / world_.size(), first = world_.rank() * own;
  for (std::uint32_t m = first; m < first + own; ++m) {
    const auto scope = commands.label(numbered("microbatch", m + 1));
    record_microbatch(commands, m, gradients, loss, moves);
  }
  if (world_.size() > 1) {
    // The update adds the gradients of all microbatches in one order, so that the weights do not
    // depend on the number of ranks.
    const auto scope = commands.label("gather");
    for (std::size_t l = kDepth; l-- > 0;) {  // as the backward pass completes them
      const std::uint64_t count = kLayers[l].weights();
      commands.add(reprise::all_gather(world_, gradients[l].slice(first * count, own * count),
                                       gradients[l]));
    }
    commands.add(reprise::all_gather(
        world_, loss.slice(first * kMicrobatchRows, own * kMicrobatchRows), loss));
  }
  {
    const auto scope = commands.label("update");
    const auto total_loss = pool_->transient<float>(1, "total loss");
    const auto rate = pool_->transient<float>(1, "rate");
    commands.add(reprise::ReduceOp(loss, total_loss));
    commands.dispatch(kernels_.count_step, {.grid = 1, .block = 1}, read(total_loss), kBatchRows,
                      read_write(running_loss_), read_write(step_counter_), schedule_.total_steps,
                      schedule_.rate, write(rate));
    for (std::size_t l = 0; l < kDepth; ++l) {
      const std::uint32_t count = kLayers[l].weights();
      commands.dispatch(kernels_.momentum_step,
                        {.grid = ceil_div(count, kThreads), .block = kThreads},
                        read_write(weights_[l]), read_write(velocity_[l]), read(gradients[l]),
                        count, kMicrobatches, read(rate), schedule_.momentum, schedule_.decay);
    }
  }
}

void Trainer::record_microbatch(CommandBuffer& commands, std::uint32_t microbatch,
                                const Gradients& gradients, const GpuRef<float>& loss,
                                const GpuRef<float>& moves) {
  const std::uint32_t first = microbatch * kMicrobatchRows;
  std::array<GpuRef<float>, kDepth + 1> values;  // the input of each layer, and the logits
  values[0] = pool_->transient<float>(kMicrobatchRows * kLayers[0].columns(), "x");
  const auto labels = pool_->transient<std::uint32_t>(kMicrobatchRows, "microbatch labels");
  {
    const auto scope = commands.label("forward");
    commands.dispatch(kernels_.gather_rows, {.grid = 1, .block = kThreads}, read(images_),
                      read(labels_), static_cast<std::uint32_t>(labels_.size()),
                      read(step_counter_), schedule_.seed, kBatchRows, first, kMicrobatchRows,
                      read(moves.slice(first, kMicrobatchRows)), write(values[0]), write(labels));
    for (std::size_t l = 0; l < kDepth; ++l) {
      values[l + 1] = dense(commands, l, values[l], kMicrobatchRows);
    }
  }
  const auto scope = commands.label("backward");
  auto slope = pool_->transient<float>(kMicrobatchRows * kClasses, numbered("slope", kDepth));
  commands.dispatch(kernels_.softmax_cross_entropy, {.grid = 1, .block = kMicrobatchRows},
                    read(values[kDepth]), read(labels), write(slope),
                    write(loss.slice(first, kMicrobatchRows)), kMicrobatchRows, 1.0f / kBatchRows);
  for (std::size_t l = kDepth; l-- > 0;) {
    const auto [inputs, units] = kLayers[l];
    const std::uint32_t count = kLayers[l].weights();
    commands.add(
        reprise::SgemmOp({.a = values[l],
                          .b = slope,
                          .c = gradients[l].slice(std::uint64_t{microbatch} * count, count),
                          .m = kLayers[l].columns(),
                          .n = units,
                          .k = kMicrobatchRows,
                          .transpose_a = Transpose::Yes,
                          .workspace_bytes = kProductWorkspace}));
    if (l > 0) {
      auto earlier = pool_->transient<float>(kMicrobatchRows * inputs, numbered("slope", l));
      commands.add(reprise::SgemmOp({.a = slope,
                                     .b = weights_[l].slice(0, std::uint64_t{inputs} * units),
                                     .c = earlier,
                                     .m = kMicrobatchRows,
                                     .n = inputs,
                                     .k = units,
                                     .transpose_b = Transpose::Yes,
                                     .workspace_bytes = kProductWorkspace}));
      commands.dispatch(kernels_.tanh_slope, blocks_of(kMicrobatchRows * inputs), read(values[l]),
                        read_write(earlier), kMicrobatchRows, inputs);
      slope = earlier;
    }
  }
}

CommandBuffer Trainer::record_evaluation() {
  CommandBuffer commands = device_.create_command_buffer({.label = "evaluation"});
  commands.begin();
  const auto rows = static_cast<std::uint32_t>(held_out_labels_.size());
  commands.fill(correct_, 0u);
  GpuRef<float> values = held_out_images_;
  for (std::size_t l = 0; l < kDepth; ++l) {
    values = dense(commands, l, values, rows);
  }
  commands.dispatch(kernels_.count_correct, {.grid = ceil_div(rows, kThreads), .block = kThreads},
                    read(values), read(held_out_labels_), rows, read_write(correct_));
  commands.copy(correct_, correct_result_);
  commands.copy(step_counter_, step_result_);
  commands.copy(running_loss_, loss_result_);
  commands.fill(running_loss_, 0.0f);
  commands.end();
  return commands;
}

CommandBuffer Trainer::record_read_back() {
  CommandBuffer commands = device_.create_command_buffer({.label = "read back"});
  commands.begin();
  for (std::size_t l = 0; l < kDepth; ++l) {
    commands.copy(weights_[l], weights_result_[l]);
  }
  commands.end();
  return commands;
}

GpuRef<float> Trainer::dense(CommandBuffer& commands, std::size_t layer, const GpuRef<float>& x,
                             std::uint32_t rows) const {
  const std::uint32_t units = kLayers[layer].units;
  const bool is_last = layer + 1 == kDepth;
  const auto product =
      pool_->transient<float>(rows * units, is_last ? "logits" : numbered("product", layer + 1));
  commands.add(reprise::SgemmOp({.a = x,
                                 .b = weights_[layer],
                                 .c = product,
                                 .m = rows,
                                 .n = units,
                                 .k = kLayers[layer].columns(),
                                 .workspace_bytes = kProductWorkspace}));
  if (is_last) return product;
  const auto output = pool_->transient<float>(rows * (units + 1), numbered("output", layer + 1));
  commands.dispatch(kernels_.activate, blocks_of(rows * (units + 1)), read(product), write(output),
                    rows, units);
  return output;
}

void Trainer::train(std::uint32_t replays) {
  for (std::uint32_t r = 0; r < replays; ++r) {
    step_.launch(queue_);
  }
  steps_since_evaluation_ += replays * steps_of_replay_;
}

void Trainer::wait() const { queue_.wait_idle(); }

Evaluation Trainer::evaluate() {
  evaluation_.launch(queue_).wait();
  const double mean =
      steps_since_evaluation_ == 0 ? 0.0 : loss_result_[0] / steps_since_evaluation_;
  steps_since_evaluation_ = 0;
  return {.mean_loss = mean, .correct = correct_result_[0], .steps = step_result_[0]};
}

std::uint64_t Trainer::of_first_rank(std::uint64_t value) const {
  if (world_.size() == 1) return value;
  std::vector<std::uint64_t> bytes = {value};
  const auto shared = pool_->allocate<std::uint64_t>(1, "of first rank");
  CommandBuffer commands = device_.create_command_buffer({.label = "of first rank"});
  commands.begin();
  commands.copy(reprise::snapshot(bytes), shared);
  commands.add(reprise::broadcast(world_, shared, 0));
  commands.copy(shared, reprise::borrowed(bytes));
  commands.end();
  compile(commands).launch(queue_).wait();
  return bytes.front();
}

Weights<float> Trainer::read_back() {
  read_back_.launch(queue_).wait();
  Weights<float> weights;
  for (std::size_t l = 0; l < kDepth; ++l) {
    const auto values = weights_result_[l].span();
    weights[l].assign(values.begin(), values.end());
  }
  return weights;
}

}  // namespace digits
