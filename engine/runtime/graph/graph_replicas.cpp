#include "runtime/graph/graph_replicas.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/graph_update_report.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {
namespace {

// What an instance's update came to, added to that of all; in words what kept it from being done.
std::string add(const UpdateReport& one, UpdateReport& all) {
  if (!one.done()) return one.reason.empty() ? std::string(to_string(one.outcome)) : one.reason;
  all.method = std::max(all.method, one.method);
  all.nodes += one.nodes;
  return {};
}

}  // namespace

GraphReplicas::GraphReplicas(GraphCore& first, std::vector<std::shared_ptr<GraphCore>> others)
    : first_(first), slots_(others.size() + 1) {
  for (std::size_t i = 0; i < others.size(); ++i) slots_[i + 1].core = std::move(others[i]);
}

std::uint32_t GraphReplicas::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.in_use; }));
}

std::uint32_t GraphReplicas::pick(const QueueCore* queue) const {
  constexpr auto kNobody = ~std::uint32_t{0};
  std::uint32_t same = kNobody, free = kNobody, oldest = kNobody;
  const auto better = [&](std::uint32_t candidate, std::uint32_t than) {
    return than == kNobody || slots_[candidate].taken < slots_[than].taken;
  };
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.in_use) continue;
    if (slot.queue == queue && (same == kNobody || slot.taken > slots_[same].taken)) same = i;
    if (better(i, oldest)) oldest = i;
  }
  if (same != kNobody) return same;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].in_use && better(i, free) && slots_[i].launching == 0 && !at(i).is_pending())
      free = i;
  }
  return free != kNobody ? free : oldest;
}

std::uint32_t GraphReplicas::take(const std::shared_ptr<QueueCore>& queue, const LaunchDesc& desc) {
  if (desc.replica && *desc.replica >= slots_.size()) {
    fail(ErrorCode::OutOfRange, Stage::Launch, first_.label(),
         concat("graph ", first_.label(), " has no replica ", *desc.replica, "; it has ",
                slots_.size(), ", from 0"));
  }
  const std::lock_guard lock(mutex_);
  const std::uint32_t i = desc.replica ? *desc.replica : pick(queue.get());
  Slot& slot = slots_[i];
  if (!slot.in_use) {
    fail(ErrorCode::InvalidState, Stage::Launch, first_.label(),
         concat("replica ", i, " of graph ", first_.label(),
                " was taken out of use by an update that it could not follow"));
  }
  slot.queue = queue.get();
  slot.taken = ++launches_;
  ++slot.launching;
  last_ = i;
  return i;
}

Fence GraphReplicas::launch(const std::shared_ptr<GraphCore>& self,
                            const std::shared_ptr<QueueCore>& queue, const LaunchDesc& desc) {
  class Taken {
   public:
    Taken(GraphReplicas& all, std::uint32_t number) : all_(all), number_(number) {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
      const std::lock_guard lock(all_.mutex_);
      --all_.slots_[number_].launching;
    }
    [[nodiscard]] std::shared_ptr<GraphCore> core(const std::shared_ptr<GraphCore>& self) const {
      if (number_ == 0) return self;
      const std::lock_guard lock(all_.mutex_);
      return all_.slots_[number_].core;
    }

   private:
    GraphReplicas& all_;
    std::uint32_t number_;
  };
  const Taken taken(*this, take(queue, desc));
  const auto core = taken.core(self);
  return core->launch(core, queue);
}

std::vector<std::shared_ptr<GraphCore>> GraphReplicas::others() const {
  std::vector<std::shared_ptr<GraphCore>> all;
  const std::lock_guard lock(mutex_);
  for (const Slot& slot : slots_) {
    if (slot.core && slot.in_use) all.push_back(slot.core);
  }
  return all;
}

void GraphReplicas::upload(const std::shared_ptr<QueueCore>& queue) {
  first_.upload(queue);
  for (const auto& other : others()) other->upload(queue);
}

void GraphReplicas::set_profile(ProfileMode mode) {
  first_.set_profile(mode);
  for (const auto& other : others()) other->set_profile(mode);
}

std::uint64_t GraphReplicas::replays() const {
  std::uint64_t sum = first_.replays();
  const std::lock_guard lock(mutex_);
  for (const Slot& slot : slots_) sum += slot.core ? slot.core->replays() : 0;
  return sum;
}

bool GraphReplicas::is_uploaded() const {
  const auto all = others();
  return first_.is_uploaded() && std::all_of(all.begin(), all.end(), [](const auto& other) {
           return other->is_uploaded();
         });
}

std::vector<LoopReport> GraphReplicas::loops() {
  std::shared_ptr<GraphCore> last;
  {
    const std::lock_guard lock(mutex_);
    last = slots_[last_].core;
  }
  return last ? last->loops() : first_.loops();
}

// --- updates ---

void GraphReplicas::leave_out(const GraphCore& other) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.core.get() == &other) slot.in_use = false;
  }
}

template <class Change>
std::vector<Message> GraphReplicas::spread(Change&& change) {
  std::vector<Message> messages;
  for (const auto& other : others()) {
    std::string why;
    try {
      other->set_traced_as(first_.trace_id());
      why = change(other);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::DeviceLost || error.code() == ErrorCode::StaleHandle)
        throw;  // of them all
      why = error.what();
    }
    if (why.empty()) continue;
    leave_out(*other);
    Message message;
    message.id = "instance-left-out";
    message.text = concat("graph ", first_.label(), ": instance ", other->instance().number,
                          " could not follow an update and is not launched any more: ", why);
    messages.push_back(std::move(message));
  }
  return messages;
}

void GraphReplicas::report(const std::vector<Message>& messages) const {
  const DeviceCore& device = *first_.device();
  for (const Message& message : messages) {
    device.instance().report(message);
    if (device.trace() != nullptr) device.trace()->report(first_.trace_id(), message);
  }
}

std::uint32_t GraphReplicas::find_scalar(std::string_view name) {
  const std::lock_guard one(updating_);
  const std::uint32_t scalar = first_.find_scalar(name);
  for (const auto& other : others())
    static_cast<void>(
        other->find_scalar(name));  // the same number, as they were all asked for the same ones
  return scalar;
}

std::uint32_t GraphReplicas::set_scalar(std::uint32_t scalar, const void* value) {
  std::uint32_t nodes = 0;
  std::vector<Message> messages;
  {
    const std::lock_guard one(updating_);
    nodes = first_.set_scalar(scalar, value);
    messages = spread([&](const auto& other) {
      nodes += other->set_scalar(scalar, value);
      return std::string();
    });
  }
  report(messages);
  return nodes;
}

void GraphReplicas::switch_command(const CommandRef& command, GraphCore::Switch how) {
  std::vector<Message> messages;
  {
    const std::lock_guard one(updating_);
    first_.switch_command(command, how);
    messages = spread([&](const auto& other) {
      other->switch_command(command, how);
      return std::string();
    });
  }
  report(messages);
}

UpdateReport GraphReplicas::rebind(std::span<const BufferBinding> bindings,
                                   const UpdateDesc& desc) {
  const UpdateClock clock;
  UpdateReport result;
  std::vector<Message> messages;
  {
    const std::lock_guard one(updating_);
    result = first_.rebind(bindings, desc);
    if (!result.done()) return result;
    messages =
        spread([&](const auto& other) { return add(other->rebind(bindings, desc), result); });
  }
  report(messages);
  result.time = clock.elapsed();
  return result;
}

UpdateReport GraphReplicas::update(const std::shared_ptr<GraphCore>& self,
                                   const CommandBuffer& commands, const UpdateDesc& desc) {
  const UpdateClock clock;
  UpdateReport result;
  std::vector<Message> messages;
  {
    const std::lock_guard one(updating_);
    const GraphCore::NextPlan next = first_.plan_update(commands);
    result = first_.become(self, commands, next, desc);
    if (result.done()) {
      messages = spread([&](const auto& other) {
        return add(other->become(other, commands, next, desc), result);
      });
    }
    result.time = clock.elapsed();
    first_.trace_update_report(result);
  }
  report(messages);
  return result;
}

}  // namespace reprise::detail
