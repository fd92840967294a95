#include "solver.hpp"

#include <algorithm>
#include <chrono>

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

}  // namespace

Solver::Solver(const Device& device, const SolverDesc& desc)
    : device_(device),
      desc_(desc),
      points_(desc.size * desc.size),
      blocks_(std::min(ceil_div(points_, kThreads), kMostBlocks)),
      queue_(device.create_queue({.label = "cg"})),
      pool_(device.create_pool({.label = "cg"})),
      input_(pool_->host<double>(points_, "right side")),
      output_(pool_->host<double>(points_, "solution")),
      state_now_(pool_->host<double>(4, "state now")),
      b_(pool_->allocate<double>(points_, "b")),
      x_(pool_->allocate<double>(points_, "x")),
      r_(pool_->allocate<double>(points_, "r")),
      p_(pool_->allocate<double>(points_, "p")),
      q_(pool_->allocate<double>(points_, "q")),
      parts_(pool_->allocate<double>(blocks_, "parts")),
      state_(pool_->allocate<double>(4, "state")),
      goes_on_(device.create_condition({.name = "goes on"})),
      kernels_{device.load_kernel(shaders::cg_start),     device.load_kernel(shaders::cg_begin),
               device.load_kernel(shaders::cg_apply),     device.load_kernel(shaders::cg_length),
               device.load_kernel(shaders::cg_step),      device.load_kernel(shaders::cg_residual),
               device.load_kernel(shaders::cg_direction), device.load_kernel(shaders::cg_decide)} {
  CommandBuffer body =
      device_.create_command_buffer({.label = "iteration", .level = Level::Secondary});
  body.begin();
  record_iteration(body);
  body.dispatch(kernels_.decide, {.grid = 1, .block = 1}, read(state_), goes_on_);
  body.end();

  CommandBuffer whole = device_.create_command_buffer({.label = "solve"});
  whole.begin();
  record_start(whole);
  whole.dispatch(kernels_.decide, {.grid = 1, .block = 1}, read(state_), goes_on_);
  whole.execute_while(goes_on_, body, {.max_iterations = desc_.max_iterations});
  whole.copy(x_, output_);
  whole_ = compile(whole);

  CommandBuffer start = device_.create_command_buffer({.label = "start"});
  start.begin();
  record_start(start);
  start.copy(state_, state_now_);
  start_ = compile(start);
  CommandBuffer iteration = device_.create_command_buffer({.label = "iteration"});
  iteration.begin();
  record_iteration(iteration);
  iteration.copy(state_, state_now_);
  iteration_ = compile(iteration);
  CommandBuffer end = device_.create_command_buffer({.label = "end"});
  end.begin();
  end.copy(x_, output_);
  end_ = compile(end);
}

CapturedGraph Solver::compile(CommandBuffer& commands) const {
  commands.end();
  CapturedGraph graph = device_.compile(commands, {.pool = pool_});
  graph.upload(queue_);
  return graph;
}

void Solver::record_start(CommandBuffer& to) const {
  const DispatchDesc all{.grid = blocks_, .block = kThreads}, one{.grid = 1, .block = kThreads};
  to.copy(input_, b_);
  to.dispatch(kernels_.start, all, read(b_), write(x_), write(r_), write(p_), write(parts_),
              points_);
  to.dispatch(kernels_.begin, one, read(parts_), blocks_, desc_.tolerance, write(state_));
}

void Solver::record_iteration(CommandBuffer& to) const {
  const DispatchDesc all{.grid = blocks_, .block = kThreads}, one{.grid = 1, .block = kThreads};
  to.dispatch(kernels_.apply, all, read(p_), write(q_), write(parts_), desc_.size);
  to.dispatch(kernels_.length, one, read(parts_), blocks_, read_write(state_));
  to.dispatch(kernels_.step, all, read(p_), read(q_), read_write(x_), read_write(r_), write(parts_),
              read(state_), points_);
  to.dispatch(kernels_.residual, one, read(parts_), blocks_, read_write(state_));
  to.dispatch(kernels_.direction, all, read(r_), read_write(p_), read(state_), points_);
}

Solve Solver::result() const {
  Solve done;
  done.x.assign(output_.span().begin(), output_.span().end());
  return done;
}

Solve Solver::solve_in_graph(const std::vector<double>& b) {
  std::ranges::copy(b, input_.data());
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

Solve Solver::solve_from_host(const std::vector<double>& b) {
  std::ranges::copy(b, input_.data());
  const Watch watch;
  start_.launch(queue_).wait();
  std::uint64_t iterations = 0;
  for (; state_now_[0] > state_now_[3] && iterations != desc_.max_iterations; ++iterations)
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
  std::ranges::copy(b, input_.data());
  const Watch watch;
  start_.launch(queue_);
  for (std::uint64_t i = 0; i < iterations; ++i) iteration_.launch(queue_);
  end_.launch(queue_).wait();
  const double milliseconds = watch.milliseconds();
  Solve done = result();
  done.milliseconds = milliseconds;
  done.iterations = iterations;
  return done;
}

}  // namespace cg
