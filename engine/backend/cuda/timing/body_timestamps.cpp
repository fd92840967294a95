#include "backend/cuda/timing/body_timestamps.hpp"

#include <algorithm>
#include <utility>

#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint32_t kMaxBodyWords = std::uint32_t{1} << 20, kMaxBodyRows = 1024;

}  // namespace

BodyTimestamps::Layout BodyTimestamps::make_layout(const TimingLayout& timing, Keep keep) {
  Layout layout;
  for (const BodyLayout& body : timing.bodies) {
    const std::uint32_t kept = keep == Keep::Times ? body.kept : 0;
    layout.words.push_back({layout.row_words, body.nodes, kept});
    if (counts(body, keep)) layout.row_words += 1 + kept * (1 + body.nodes);
  }
  return layout;
}

std::unique_ptr<BodyTimestamps> BodyTimestamps::make(
    const std::shared_ptr<const CudaContext>& context, const std::shared_ptr<Readback>& readback,
    const Plan& plan, const TimingLayout& timing, Keep keep) {
  Layout layout = make_layout(timing, keep);
  if (layout.row_words == 0 || !timing.has_same_nodes(timing_layout(plan))) return nullptr;
  return std::unique_ptr<BodyTimestamps>(
      new BodyTimestamps(context, readback, plan, timing, keep, std::move(layout)));
}

BodyTimestamps::BodyTimestamps(const std::shared_ptr<const CudaContext>& context,
                               const std::shared_ptr<Readback>& readback, const Plan& plan,
                               TimingLayout timing, Keep keep, Layout layout)
    : readback_(readback),
      timing_(std::move(timing)),
      keep_(keep),
      words_(std::move(layout.words)),
      row_words_(layout.row_words),
      rows_(std::clamp<std::uint32_t>(kMaxBodyWords / row_words_, 1, kMaxBodyRows)),
      memory_(context, std::size_t{rows_} * row_words_),
      row_(row_words_),
      iterations_(timing_.bodies.size()) {
  for (const Plan* body : body_plans(plan)) lowered_.push_back(body->lowered);
}

void BodyTimestamps::read(std::uint64_t replay) {
  readback_->read(memory() + replay % rows_ * row_words_, row_);
  for (std::uint32_t body = 0; body < words_.size(); ++body) {
    const std::uint32_t owner = timing_.bodies[body].owner;
    if (!counts(body)) {
      iterations_[body] = owner == kNone ? 1 : iterations_[owner];
      continue;
    }
    // The head contains the low 32 bits of the replay number and the iteration count. A head of
    // another replay means that the body did not run in this one.
    const std::uint64_t head = row_[words_[body].first];
    iterations_[body] = head >> 32 == (replay & 0xffffffff) ? head & 0xffffffff : 0;
  }
}

void BodyTimestamps::fill(NodeTime* times, const GpuClock& clock) const {
  for (std::uint32_t body = 0; body < words_.size(); ++body) {
    set_iterations(times[timing_.bodies[body].first_slot], iterations_[body]);
    for (std::uint64_t iteration = 0;
         iteration < std::min<std::uint64_t>(iterations_[body], words_[body].kept); ++iteration)
      fill_iteration(body, iteration, times, clock);
  }
}

void BodyTimestamps::fill_iteration(std::uint32_t body, std::uint64_t iteration, NodeTime* times,
                                    const GpuClock& clock) const {
  const Words& words = words_[body];
  const LoweredGraph& lowered = lowered_[body];
  const std::uint64_t* const ends =
      // By node; the word before them is the start of the iteration.
      &row_[words.first + 2 + iteration * (1 + words.nodes)];
  for (std::uint32_t node = 0; node < words.nodes; ++node) {
    if (lowered.nodes[node].kind != LoweredKind::Work) continue;
    std::uint64_t ready = ends[-1];
    for (const LoweredEdge& edge : lowered.edges_into(node))
      ready = std::max(ready, ends[edge.from]);
    const std::int64_t started = clock.to_host(ready),
                       ended = clock.to_host(std::max(ends[node], ready));
    NodeTime& time = times[timing_.bodies[body].slot(node, iteration)];
    time.started = started;
    time.duration = saturated_ns(ended - started);
  }
}

}  // namespace reprise::detail
