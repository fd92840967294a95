// GraphReplicas: the instances of one graph, which replay at once: which of them a launch takes,
// and updates that reach them all. Held by the first of them, GraphCore; the others are held here,
// and by their fences. Threads: any thread. Locks: updating_ before any other; mutex_ is let go of
// before an instance is launched or changed, and no lock but an instance's own is taken under it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/captured_graph.hpp>

#include "runtime/graph/graph_core.hpp"

namespace reprise::detail {

class GraphReplicas {
 public:
  // `first` owns this.
  GraphReplicas(GraphCore& first, std::vector<std::shared_ptr<GraphCore>> others);

  // Those in use. Each of the following reaches all of them; what it throws of the first has
  // changed none. `self` owns the first.
  [[nodiscard]] std::uint32_t count() const;
  [[nodiscard]] std::vector<std::shared_ptr<GraphCore>> others()
      const;  // those in use, after the first
  Fence launch(const std::shared_ptr<GraphCore>& self, const std::shared_ptr<QueueCore>& queue,
               const LaunchDesc& desc);
  void upload(const std::shared_ptr<QueueCore>& queue);
  void set_profile(ProfileMode mode);
  [[nodiscard]] std::uint64_t replays() const;
  [[nodiscard]] bool is_uploaded() const;
  [[nodiscard]] std::vector<LoopReport> loops();  // of the one launched last
  [[nodiscard]] std::uint32_t find_scalar(std::string_view name);
  std::uint32_t set_scalar(std::uint32_t scalar, const void* value);
  [[nodiscard]] UpdateReport rebind(std::span<const BufferBinding> bindings,
                                    const UpdateDesc& desc);
  void switch_command(const CommandRef& command, GraphCore::Switch how);
  [[nodiscard]] UpdateReport update(const std::shared_ptr<GraphCore>& self,
                                    const CommandBuffer& commands, const UpdateDesc& desc);

 private:
  struct Slot {
    std::shared_ptr<GraphCore> core;  // null: of the first
    const QueueCore* queue =
        nullptr;                  // that it was launched on last; to compare with, it may be gone
    std::uint64_t taken = 0;      // when, in launches of the graph; 0: never
    std::uint32_t launching = 0;  // threads that are about to
    bool in_use = true;
  };
  [[nodiscard]] std::uint32_t take(const std::shared_ptr<QueueCore>& queue, const LaunchDesc& desc);
  [[nodiscard]] std::uint32_t pick(const QueueCore* queue) const;  // under mutex_
  [[nodiscard]] GraphCore& at(std::uint32_t i) const noexcept {
    return i == 0 ? first_ : *slots_[i].core;
  }
  void leave_out(const GraphCore& other);
  // `change` of each instance after the first, which returns in words what kept it from being done,
  // empty: nothing. Under updating_.
  template <class Change>
  [[nodiscard]] std::vector<Message> spread(Change&& change);
  void report(const std::vector<Message>& messages) const;

  GraphCore& first_;
  std::mutex updating_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;     // under mutex_
  std::uint64_t launches_ = 0;  // under mutex_
  std::uint32_t last_ = 0;      // under mutex_: the one launched last
};

}  // namespace reprise::detail
