#include "backend/cuda/body_timestamps.hpp"

#include <algorithm>
#include <utility>

#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint32_t kMostWords = std::uint32_t{1} << 20, kMostRows = 1024;

}  // namespace

BodyTimestamps::Layout BodyTimestamps::lay_out(const TimingLayout& slots, Keep keep) {
  Layout layout;
  for (const BodyPlace& place : slots.bodies) {
    const std::uint32_t kept = keep == Keep::Times ? place.kept : 0;
    layout.words.push_back({layout.row_words, place.nodes, kept});
    if (counts(place, keep)) layout.row_words += 1 + kept * (1 + place.nodes);
  }
  return layout;
}

std::unique_ptr<BodyTimestamps> BodyTimestamps::make(
    const std::shared_ptr<const CudaContext>& context, const std::shared_ptr<Readback>& readback,
    const Plan& plan, const TimingLayout& slots, Keep keep) {
  Layout layout = lay_out(slots, keep);
  if (layout.row_words == 0 || !slots.has_same_nodes(timing_layout(plan))) return nullptr;
  return std::unique_ptr<BodyTimestamps>(
      new BodyTimestamps(context, readback, plan, slots, keep, std::move(layout)));
}

BodyTimestamps::BodyTimestamps(const std::shared_ptr<const CudaContext>& context,
                               const std::shared_ptr<Readback>& readback, const Plan& plan,
                               TimingLayout slots, Keep keep, Layout layout)
    : readback_(readback),
      slots_(std::move(slots)),
      keep_(keep),
      words_(std::move(layout.words)),
      row_words_(layout.row_words),
      rows_(std::clamp<std::uint32_t>(kMostWords / row_words_, 1, kMostRows)),
      memory_(context, *readback_, std::size_t{rows_} * row_words_),
      row_(row_words_),
      rounds_(slots_.bodies.size()) {
  for (const Plan* body : plans_of_bodies(plan)) lowered_.push_back(body->lowered);
}

void BodyTimestamps::read(std::uint64_t replay) {
  readback_->read(memory() + replay % rows_ * row_words_, row_);
  for (std::uint32_t body = 0; body < words_.size(); ++body) {
    const std::uint32_t owner = slots_.bodies[body].owner;
    if (!counts(body)) {
      rounds_[body] = owner == kNone ? 1 : rounds_[owner];
      continue;
    }
    // The head contains the low 32 bits of the replay number and the iteration count. A head of
    // another replay means that the body did not run in this one.
    const std::uint64_t head = row_[words_[body].first];
    rounds_[body] = head >> 32 == (replay & 0xffffffff) ? head & 0xffffffff : 0;
  }
}

void BodyTimestamps::fill(NodeTime* times, const GpuClock& clock) const {
  for (std::uint32_t body = 0; body < words_.size(); ++body) {
    set_rounds(times[slots_.bodies[body].first_slot], rounds_[body]);
    for (std::uint64_t round = 0; round < std::min<std::uint64_t>(rounds_[body], words_[body].kept);
         ++round)
      fill_round(body, round, times, clock);
  }
}

void BodyTimestamps::fill_round(std::uint32_t body, std::uint64_t round, NodeTime* times,
                                const GpuClock& clock) const {
  const Words& words = words_[body];
  const LoweredGraph& lowered = lowered_[body];
  const std::uint64_t* const ends =
      // By node; the word before them is the start of the iteration.
      &row_[words.first + 2 + round * (1 + words.nodes)];
  for (std::uint32_t node = 0; node < words.nodes; ++node) {
    if (lowered.nodes[node].kind != LoweredKind::Work) continue;
    std::uint64_t began = ends[-1];
    for (const LoweredEdge& edge : lowered.edges_into(node))
      began = std::max(began, ends[edge.from]);
    const std::int64_t started = clock.to_host(began),
                       ended = clock.to_host(std::max(ends[node], began));
    NodeTime& time = times[slots_.bodies[body].slot(node, round)];
    time.started = started;
    time.duration = saturated_ns(ended - started);
  }
}

}  // namespace reprise::detail
