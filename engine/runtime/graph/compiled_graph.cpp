#include "runtime/graph/compiled_graph.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "compile/stages.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/graph_update_report.hpp"
#include "runtime/graph/rank_comparison.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {
namespace {

// Adds the report of one replica to that of the graph. Returns the reason if it was not updated.
std::string add(const UpdateReport& one, UpdateReport& all) {
  if (!one.done()) return one.reason.empty() ? std::string(to_string(one.outcome)) : one.reason;
  all.method = std::max(all.method, one.method);
  all.nodes += one.nodes;
  return {};
}

}  // namespace

CompiledGraph::CompiledGraph(std::vector<std::shared_ptr<GraphReplica>> replicas,
                             CompileReport report)
    : replicas_(std::move(replicas)),
      report_(std::make_shared<const CompileReport>(std::move(report))),
      slots_(replicas_.size()),
      has_collectives_(!first().executable().spec().collectives.ranks.empty()) {}

std::shared_ptr<const CompileReport> CompiledGraph::report() const {
  const std::lock_guard lock(report_mutex_);
  return report_;
}

void CompiledGraph::set_report(CompileReport report) {
  auto next = std::make_shared<const CompileReport>(std::move(report));
  const std::lock_guard lock(report_mutex_);
  report_.swap(next);
}

std::uint32_t CompiledGraph::replicas_in_use() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.in_use; }));
}

std::vector<std::shared_ptr<GraphReplica>> CompiledGraph::others() const {
  std::vector<std::shared_ptr<GraphReplica>> others;
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 1; i < replicas_.size(); ++i) {
    if (slots_[i].in_use) others.push_back(replicas_[i]);
  }
  return others;
}

// --- Launches ---

std::uint32_t CompiledGraph::select_oldest() const {
  const auto oldest =
      std::min_element(slots_.begin(), slots_.end(),
                       [](const Slot& a, const Slot& b) { return a.last_launch < b.last_launch; });
  return static_cast<std::uint32_t>(oldest - slots_.begin());
}

std::uint32_t CompiledGraph::select_any(const QueueCore* queue) const {
  constexpr auto kNobody = ~std::uint32_t{0};
  std::uint32_t same_queue = kNobody, idle = kNobody, oldest = kNobody;
  const auto is_older = [&](std::uint32_t candidate, std::uint32_t than) {
    return than == kNobody || slots_[candidate].last_launch < slots_[than].last_launch;
  };
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.in_use) continue;
    if (slot.queue == queue && (same_queue == kNobody || is_older(same_queue, i))) same_queue = i;
    if (is_older(i, oldest)) oldest = i;
  }
  if (same_queue != kNobody) return same_queue;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].in_use && is_older(i, idle) && slots_[i].launching == 0 &&
        !replicas_[i]->is_pending())
      idle = i;
  }
  return idle != kNobody ? idle : oldest;
}

std::uint32_t CompiledGraph::select(const QueueCore* queue, const LaunchDesc& desc) {
  if (desc.replica && *desc.replica >= replicas_.size()) {
    fail(ErrorCode::OutOfRange, Stage::Launch, label(),
         concat("graph ", label(), " has no replica ", *desc.replica, "; it has ", replicas_.size(),
                ", numbered from 0"));
  }
  if (has_one()) return 0;
  const std::lock_guard lock(mutex_);
  const std::uint32_t i = desc.replica       ? *desc.replica
                          : has_collectives_ ? select_oldest()
                                             : select_any(queue);
  Slot& slot = slots_[i];
  if (!slot.in_use) {
    fail(ErrorCode::InvalidState, Stage::Launch, label(),
         concat("replica ", i, " of graph ", label(),
                " was taken out of use by an update that it could not follow"));
  }
  slot.queue = queue;
  slot.last_launch = ++launches_;
  ++slot.launching;
  last_ = i;
  return i;
}

// A replica that was selected for a launch, until the launch is submitted.
class CompiledGraph::Selection {
 public:
  Selection(CompiledGraph& graph, const QueueCore* queue, const LaunchDesc& desc)
      : graph_(graph), index_(graph.select(queue, desc)) {}
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  ~Selection() {
    if (graph_.has_one()) return;
    const std::lock_guard lock(graph_.mutex_);
    --graph_.slots_[index_].launching;
  }
  [[nodiscard]] const std::shared_ptr<GraphReplica>& replica() const noexcept {
    return graph_.replicas_[index_];
  }

 private:
  CompiledGraph& graph_;
  const std::uint32_t index_;
};

Fence CompiledGraph::launch(const std::shared_ptr<QueueCore>& queue, const LaunchDesc& desc) {
  const Selection selection(*this, queue.get(), desc);
  return selection.replica()->launch(selection.replica(), queue);
}

void CompiledGraph::upload(const std::shared_ptr<QueueCore>& queue) {
  first().upload(queue);
  for (const auto& other : others()) other->upload(queue);
}

void CompiledGraph::set_profile(ProfileMode mode) {
  first().set_profile(mode);
  for (const auto& other : others()) other->set_profile(mode);
}

std::uint64_t CompiledGraph::replays() const {
  std::uint64_t sum = 0;
  for (const auto& replica : replicas_) sum += replica->replays();
  return sum;
}

bool CompiledGraph::is_uploaded() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if ((i == 0 || slots_[i].in_use) && !replicas_[i]->is_uploaded()) return false;
  }
  return true;
}

std::vector<LoopReport> CompiledGraph::loops() {
  std::uint32_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    last = last_;
  }
  return replicas_[last]->loops();
}

// --- Updates ---

template <class Change>
std::vector<Message> CompiledGraph::spread(Change&& change) {
  std::vector<Message> messages;
  for (const auto& other : others()) {
    std::string reason;
    try {
      reason = change(other);
    } catch (const Error& error) {
      // Every replica fails like this.
      if (error.code() == ErrorCode::DeviceLost || error.code() == ErrorCode::StaleHandle) throw;
      reason = error.what();
    }
    if (reason.empty()) continue;
    const std::uint32_t number = other->index().number;
    {
      const std::lock_guard lock(mutex_);
      slots_[number].in_use = false;
    }
    Message message;
    message.id = "replica-left-out";
    message.text = concat("graph ", label(), ": replica ", number,
                          " could not follow an update and is out of use: ", reason);
    messages.push_back(std::move(message));
  }
  return messages;
}

void CompiledGraph::report_warnings(const std::vector<Message>& messages) const {
  for (const Message& message : messages) {
    device()->instance().report(message);
    if (device()->trace() != nullptr) device()->trace()->report(first().trace_id(), message);
  }
}

std::unique_lock<std::mutex> CompiledGraph::lock_scalars() {
  return has_one() ? std::unique_lock<std::mutex>() : lock_updates();
}

std::uint32_t CompiledGraph::find_scalar(std::string_view name) {
  const auto lock = lock_scalars();
  const std::uint32_t scalar = detail::find_scalar(first(), name);
  // Every replica was asked for the same names, and gives the same index.
  for (const auto& other : others()) static_cast<void>(detail::find_scalar(*other, name));
  return scalar;
}

std::uint32_t CompiledGraph::set_scalar(std::uint32_t scalar, const void* value) {
  std::uint32_t nodes = 0;
  std::vector<Message> messages;
  {
    const auto lock = lock_scalars();
    nodes = detail::set_scalar(first(), scalar, value);
    if (has_one()) return nodes;
    messages = spread([&](const auto& other) {
      nodes += detail::set_scalar(*other, scalar, value);
      return std::string();
    });
  }
  report_warnings(messages);
  return nodes;
}

void CompiledGraph::switch_command(const CommandRef& command, CommandSwitch to) {
  std::vector<Message> messages;
  {
    const auto lock = lock_updates();
    detail::switch_command(first(), command, to);
    messages = spread([&](const auto& other) {
      detail::switch_command(*other, command, to);
      return std::string();
    });
  }
  report_warnings(messages);
}

UpdateReport CompiledGraph::rebind(std::span<const BufferBinding> bindings,
                                   const UpdateDesc& desc) {
  const UpdateClock clock;
  UpdateReport result;
  std::vector<Message> messages;
  {
    const auto lock = lock_updates();
    result = detail::rebind(first(), bindings, desc);
    if (has_one() || !result.done()) return result;
    messages = spread(
        [&](const auto& other) { return add(detail::rebind(*other, bindings, desc), result); });
  }
  report_warnings(messages);
  result.time = clock.elapsed();
  return result;
}

UpdateReport CompiledGraph::update(const CommandBuffer& commands, const UpdateDesc& desc) {
  const UpdateClock clock;
  UpdateReport result;
  std::vector<Message> messages;
  {
    const auto lock = lock_updates();
    PlannedGraph next = plan_update(first(), commands);
    const std::uint64_t lowering = plan().lowering_hash;
    make_on_all_ranks(next.collectives, [&] {
      CompileReport compiled;
      result = make_or_leave_out_segments(*device(), next, [&] {
        compiled = make_report(*next.plan, next.messages);
        compiled.replicas = first().index().count;
        return apply_update(replicas_.front(), commands, next, desc);
      });
      if (!result.done()) return;
      set_report(std::move(compiled));
      if (result.method == UpdateMethod::Reinstantiated || lowering != next.plan->lowering_hash)
        tuned_ = std::move(next.tuned);
      const bool has_collectives = !next.collectives.ranks.empty();
      {
        const std::lock_guard lock_slots(mutex_);
        has_collectives_ = has_collectives;
        // Launches before this update need not have selected the same replicas on all ranks.
        if (has_collectives)
          for (Slot& slot : slots_) slot.last_launch = 0;
      }
      messages = spread([&](const auto& other) {
        return add(apply_update(other, commands, next, desc), result);
      });
      if (has_collectives && !messages.empty())
        fail(ErrorCode::InvalidState, Stage::Instantiate, label(), messages.front().text);
    });
    result.time = clock.elapsed();
    trace_update_report(first(), result);
  }
  report_warnings(messages);
  return result;
}

void check_scalar(const std::shared_ptr<CompiledGraph>& graph, std::uint32_t scalar,
                  const ValueType& type) {
  check_scalar(graph->first(), scalar, type);
}
std::uint32_t set_scalar(const std::shared_ptr<CompiledGraph>& graph, std::uint32_t scalar,
                         const void* value) {
  CompiledGraph& checked = require_handle(graph, "GraphScalar", "set", Stage::Launch);
  require_outside_callback("GraphScalar", "set", Stage::Launch, checked.label());
  return checked.set_scalar(scalar, value);
}

}  // namespace reprise::detail
