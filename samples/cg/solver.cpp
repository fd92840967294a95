#include "solver.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include <cg.shaders.hpp>

namespace cg {

using namespace reprise;

namespace {

constexpr std::uint32_t kThreads = 256, kMostBlocks = 512;

class Watch {
 public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began_)
        .count();
  }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

std::uint32_t number_of_ranks(const SolverDesc& desc) {
  const std::uint32_t ranks = desc.world ? desc.world.size() : 1;
  if (ranks > desc.size)
    throw std::runtime_error(std::to_string(ranks) + " ranks cannot share " +
                             std::to_string(desc.size) + " rows");
  return ranks;
}

}  // namespace

Solver::Solver(const Device& device, const SolverDesc& desc)
    : device_(device),
      desc_(desc),
      ranks_(number_of_ranks(desc)),
      rank_(desc.world ? desc.world.rank() : 0),
      first_(first_point(rank_)),
      points_(first_point(rank_ + 1) - first_),
      above_(rank_ > 0 ? desc.size : 0),
      blocks_(std::min(ceil_div(first_point(1), kThreads), kMostBlocks)),
      queue_(device.create_queue({.label = "cg"})),
      pool_(device.create_pool({.label = "cg"})),
      input_(pool_->host<double>(points_, "right side")),
      output_(pool_->host<double>(rank_ == 0 ? first_point(ranks_) : points_, "solution")),
      state_now_(pool_->host<double>(2, "state now")),
      b_(pool_->allocate<double>(points_, "b")),
      solution_(pool_->allocate<double>(output_.size(), "x")),
      x_(solution_.slice(0, points_)),
      r_(pool_->allocate<double>(points_, "r")),
      p_with_halo_(
          pool_->allocate<double>(above_ + points_ + (rank_ + 1 < ranks_ ? desc.size : 0), "p")),
      p_(p_with_halo_.slice(above_, points_)),
      q_(pool_->allocate<double>(points_, "q")),
      parts_(allocate_parts("parts")),
      residual_parts_(allocate_parts("residual parts")),
      parts_before_(allocate_parts("parts before")),
      state_(pool_->allocate<double>(2, "state")),
      goes_on_(device.create_condition({.name = "goes on"})),
      kernels_{device.load_kernel(shaders::cg_start),
               device.load_kernel(shaders::cg_begin),
               device.load_kernel(shaders::cg_apply),
               device.load_kernel(shaders::cg_step),
               device.load_kernel(shaders::cg_direction),
               device.load_kernel(shaders::cg_direction_in_loop),
               device.load_kernel(shaders::cg_decide)} {
  CommandBuffer body =
      device_.create_command_buffer({.label = "iteration", .level = Level::Secondary});
  body.begin();
  record_step(body);
  body.dispatch(kernels_.direction_in_loop, all_points(), read(r_), read_write(p_),
                read(residual_parts_), read(parts_before_), part_count(), points_, read(state_),
                goes_on_);
  body.end();

  CommandBuffer whole = device_.create_command_buffer({.label = "solve"});
  whole.begin();
  record_start(whole);
  whole.dispatch(kernels_.decide, {.grid = 1, .block = 1}, read(state_), goes_on_);
  whole.execute_while(goes_on_, body, {.max_iterations = desc_.max_iterations});
  record_end(whole);
  whole_ = compile(whole, Lowering::Persistent);  // the loop is one kernel

  CommandBuffer start = device_.create_command_buffer({.label = "start"});
  start.begin();
  record_start(start);
  start.copy(state_, state_now_);
  start_ = compile(start);
  CommandBuffer iteration = device_.create_command_buffer({.label = "iteration"});
  iteration.begin();
  record_step(iteration);
  iteration.dispatch(kernels_.direction, all_points(), read(r_), read_write(p_),
                     read(residual_parts_), read(parts_before_), part_count(), points_,
                     write(state_.slice(1, 1)));
  iteration.copy(state_, state_now_);
  iteration_ = compile(iteration);
  CommandBuffer end = device_.create_command_buffer({.label = "end"});
  end.begin();
  record_end(end);
  end_ = compile(end);
}

CapturedGraph Solver::compile(CommandBuffer& commands, Lowering lowering) const {
  commands.end();
  CapturedGraph graph = device_.compile(commands, {.pool = pool_, .lowering = lowering});
  graph.upload(queue_);
  return graph;
}

DispatchDesc Solver::all_points() const { return {.grid = blocks_, .block = kThreads}; }

GpuRef<double> Solver::allocate_parts(const char* name) const {
  return pool_->allocate<double>(part_count(), name);
}

GpuRef<double> Solver::own(const GpuRef<double>& parts) const {
  return parts.slice(rank_ * blocks_, blocks_);
}

void Solver::record_start(CommandBuffer& to) const {
  to.copy(input_, b_);
  to.dispatch(kernels_.start, all_points(), read(b_), write(x_), write(r_), write(p_),
              write(own(residual_parts_)), points_);
  record_gather(to, residual_parts_);
  to.dispatch(kernels_.begin, {.grid = 1, .block = kThreads}, read(residual_parts_), part_count(),
              desc_.tolerance, write(state_));
}

void Solver::record_step(CommandBuffer& to) const {
  record_halo_exchange(to);
  to.dispatch(kernels_.apply, all_points(), read(p_with_halo_), write(q_), write(own(parts_)),
              read(residual_parts_), write(parts_before_), part_count(), desc_.size, points_,
              above_, static_cast<std::uint32_t>(p_with_halo_.size()));
  record_gather(to, parts_);
  to.dispatch(kernels_.step, all_points(), read(p_), read(q_), read_write(x_), read_write(r_),
              read(parts_), read(parts_before_), write(own(residual_parts_)), part_count(),
              points_);
  record_gather(to, residual_parts_);
}

void Solver::record_end(CommandBuffer& to) const {
  if (rank_ > 0) {
    to.add(send(desc_.world, x_, 0));
  } else if (ranks_ > 1) {
    std::vector<CollectiveOp> parts;
    for (std::uint32_t r = 1; r < ranks_; ++r)
      parts.push_back(receive(
          desc_.world, solution_.slice(first_point(r), first_point(r + 1) - first_point(r)), r));
    to.add(CollectiveOp::group(parts));
  }
  to.copy(solution_, output_);
}

void Solver::record_halo_exchange(CommandBuffer& to) const {
  std::vector<CollectiveOp> rows;
  const auto exchange = [&](std::uint64_t own, std::uint64_t adjacent, std::uint32_t with) {
    rows.push_back(send(desc_.world, p_with_halo_.slice(own, desc_.size), with));
    rows.push_back(receive(desc_.world, p_with_halo_.slice(adjacent, desc_.size), with));
  };
  if (rank_ > 0) exchange(above_, 0, rank_ - 1);
  if (rank_ + 1 < ranks_) exchange(above_ + points_ - desc_.size, above_ + points_, rank_ + 1);
  if (!rows.empty()) to.add(CollectiveOp::group(rows));
}

// All ranks then add the same parts in the same order, so their loops end together.
void Solver::record_gather(CommandBuffer& to, const GpuRef<double>& parts) const {
  if (ranks_ > 1) to.add(all_gather(desc_.world, own(parts), parts));
}

std::uint32_t Solver::first_point(std::uint32_t rank) const {
  return desc_.size * (desc_.size / ranks_ * rank + std::min(rank, desc_.size % ranks_));
}

Solve Solver::result() const {
  Solve done;
  done.x.assign(output_.span().begin(), output_.span().end());
  return done;
}

Solve Solver::solve_in_graph(const std::vector<double>& b) {
  std::copy_n(b.begin() + first_, points_, input_.data());
  const Watch watch;
  whole_.launch(queue_).wait();
  const double milliseconds = watch.milliseconds();
  Solve done = result();
  done.milliseconds = milliseconds;
  const LoopReport loop = whole_.loops().front();
  done.iterations = loop.iterations;
  done.reached_limit = loop.reached_limit;
  return done;
}

void Solver::repeat_in_graph(std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) whole_.launch(queue_);
  queue_.wait_idle();
}

Solve Solver::solve_from_host(const std::vector<double>& b) {
  std::copy_n(b.begin() + first_, points_, input_.data());
  const Watch watch;
  start_.launch(queue_).wait();
  std::uint64_t iterations = 0;
  for (; state_now_[1] > state_now_[0] && iterations != desc_.max_iterations; ++iterations)
    iteration_.launch(queue_).wait();
  end_.launch(queue_).wait();
  const double milliseconds = watch.milliseconds();
  Solve done = result();
  done.milliseconds = milliseconds;
  done.iterations = iterations;
  done.reached_limit = iterations == desc_.max_iterations;
  return done;
}

Solve Solver::solve_blindly(const std::vector<double>& b, std::uint64_t iterations) {
  std::copy_n(b.begin() + first_, points_, input_.data());
  const Watch watch;
  launch_blindly(iterations).wait();
  const double milliseconds = watch.milliseconds();
  Solve done = result();
  done.milliseconds = milliseconds;
  done.iterations = iterations;
  return done;
}

Fence Solver::launch_blindly(std::uint64_t iterations) {
  start_.launch(queue_);
  for (std::uint64_t i = 0; i < iterations; ++i) iteration_.launch(queue_);
  return end_.launch(queue_);
}

void Solver::repeat_blindly(std::uint32_t times, std::uint64_t iterations) {
  for (std::uint32_t i = 0; i < times; ++i) launch_blindly(iterations);
  queue_.wait_idle();
}

}  // namespace cg
