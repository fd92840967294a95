#include "backend/host/body_node.hpp"

#include <algorithm>
#include <atomic>

#include "backend/host/host_program.hpp"
#include "backend/host/worker_arena.hpp"

namespace reprise::detail {

BodyNode::BodyNode(const Shared& shared) : shared_(shared) {}

BodyNode::BodyNode(const Shared& shared, const ConditionalPayload& conditional,
                   std::byte* condition, std::uint32_t loop)
    : shared_(shared),
      condition_(reinterpret_cast<std::uint32_t*>(condition)),
      max_iterations_(conditional.max_iterations),
      loop_(loop) {
  switch (conditional.branch) {
    case Branch::If: kind_ = Kind::If; break;
    case Branch::While: kind_ = Kind::While; break;
    case Branch::Switch: kind_ = Kind::Switch; break;
  }
}

BodyNode::BodyNode(BodyNode&&) noexcept = default;
BodyNode& BodyNode::operator=(BodyNode&&) noexcept = default;
BodyNode::~BodyNode() = default;

void BodyNode::add(std::unique_ptr<HostProgram> program, std::uint32_t body) {
  body_numbers_.push_back(body);
  bodies_.push_back(std::move(program));
}

bool BodyNode::has_callbacks() const noexcept {
  return std::any_of(bodies_.begin(), bodies_.end(),
                     [](const auto& body) { return body->has_callbacks(); });
}

std::uint32_t BodyNode::condition() const noexcept {
  return std::atomic_ref(*condition_).load(std::memory_order_relaxed);
}

void BodyNode::run(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors) noexcept {
  switch (kind_) {
    case Kind::Once: return run_body(0, workers, replay, errors);
    case Kind::If: return run_body(condition() != 0 ? 0 : 1, workers, replay, errors);
    case Kind::Switch: return run_body(condition(), workers, replay, errors);
    case Kind::While: return run_loop(workers, replay, errors);
  }
}

void BodyNode::run_body(std::size_t body, WorkerArena& workers, std::uint64_t replay,
                        CallbackErrors& errors) noexcept {
  if (body >= bodies_.size()) return;
  NodeTime* times = shared_.state->times();
  if (times != nullptr) {
    const BodyLayout& layout = shared_.timing->bodies[body_numbers_[body]];
    NodeTime& iterations = times[layout.first_slot];
    const std::uint64_t iteration = iterations_of(iterations);
    add_iteration(iterations);
    times = iteration < layout.kept ? times + layout.slot(0, iteration) : nullptr;
  }
  bodies_[body]->run_in_order(workers, replay, errors, times, WorkerArena::worker());
}

void BodyNode::run_loop(WorkerArena& workers, std::uint64_t replay,
                        CallbackErrors& errors) noexcept {
  for (std::uint64_t iterations = 1; condition() != 0 && !shared_.generation->is_lost();
       ++iterations) {
    run_body(0, workers, replay, errors);
    shared_.state->count_iteration(loop_);
    if (iterations != max_iterations_) continue;
    shared_.state->reach_limit(loop_);
    std::atomic_ref(*condition_).store(0, std::memory_order_relaxed);
  }
}

}  // namespace reprise::detail
