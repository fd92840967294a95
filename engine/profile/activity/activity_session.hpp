// ActivitySession: CUPTI in this process, attached from the opening of the first window to the
// closing of the last. Attaching slows every graph of the process. An executable must be uploaded
// again before its next launch if CUPTI was attached or detached since its last upload; epoch()
// identifies these periods. While CUPTI attaches or detaches, the gate blocks launches, and no work
// runs on the registered devices. At process exit the session detaches before CUPTI's own library
// is destroyed. Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/activity/activity_buffers.hpp"
#include "profile/activity/cupti_library.hpp"
#include "profile/activity/cupti_records.hpp"
#include "profile/activity/launch_gate.hpp"

namespace reprise::detail {

class ActivitySession {
 public:
  // Receives the records of one window's profiling clone. The window owns it while it is open.
  struct Sink {
    std::mutex mutex;  // guards the members below
    ReplayRuns runs{0};
    std::uint64_t untimed = 0;  // number of records without times
  };

  // The session of the process. Never destroyed: threads may launch during process exit and still
  // pass the gate.
  [[nodiscard]] static ActivitySession& of_process();

  using Clock = std::chrono::steady_clock;
  // Returns true when a device is idle, false if it is still busy at `deadline`. Must not throw.
  using WaitUntilIdle = std::function<bool(Clock::time_point deadline)>;
  // Enables the gate for all following launches, because windows may open while graphs run on the
  // device `identity`.
  void expect(const void* identity, WaitUntilIdle wait_until_idle);
  // The gate for launches, uploads and instantiations; null before the first expect().
  [[nodiscard]] LaunchGate* gate() noexcept {
    return expected_.load(std::memory_order_relaxed) ? &gate_ : nullptr;
  }
  // Increases with each attach and each detach.
  [[nodiscard]] std::uint32_t epoch() const noexcept {
    return epoch_.load(std::memory_order_acquire);
  }

  // A device that stays busy may run a host callback that waits for a launch, which the closed gate
  // blocks: opening and closing give up after this time and open the gate.
  static constexpr std::chrono::seconds kMaxWait{2};
  static constexpr std::string_view kBusy = "the GPU was busy for 2 s";  // reason of open()

  // Attaches CUPTI for the first window, then calls `make`. If either fails, or a device stays
  // busy, the session is unchanged. Returns an empty string on success, otherwise the reason.
  // Rethrows what `make` throws.
  [[nodiscard]] std::string open(const std::function<void()>& make);
  // Flushes, calls `unmake` while the devices are idle, and detaches CUPTI after the last window.
  // Returns false if a device stayed busy: the window is still open and the caller tries again
  // later.
  [[nodiscard]] bool close(const std::function<void()>& unmake) noexcept;

  // Called within `make`. Assigns `node`, of a graph that is about to be instantiated, and its
  // copies in executables to node `place` of a replay; `sink` receives its records. Throws Error if
  // CUPTI fails.
  void claim(CUgraphNode node, std::uint32_t place, const std::shared_ptr<Sink>& sink);
  // The same for a node inside a child graph or a conditional's body. CUDA 13.0 flattens such
  // graphs in the executable and numbers their nodes after those of the outermost graph: graph by
  // graph, in the order of the containing nodes, depth first. `number` is that number; `of` is any
  // node of the outermost graph.
  void register_inner_node(CUgraphNode of, std::uint32_t number, std::uint32_t place,
                           const std::shared_ptr<Sink>& sink);
  // Flushes CUPTI's records of completed work. The sinks have received them when it returns.
  void flush() noexcept;
  // Number of records that CUPTI dropped for lack of buffers.
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  struct Owner {
    std::uint32_t place = 0;
    std::weak_ptr<Sink> sink;
  };
  struct ExitGate;

  ActivitySession() = default;
  [[nodiscard]] std::string attach();  // requires mutex_ and the closed gate
  void detach() noexcept;              // as attach()
  void end() noexcept;  // at process exit: closes all windows; later open() calls fail
  // Requires mutex_ and the closed gate. Returns false if a device is busy for kMaxWait.
  [[nodiscard]] bool wait_for_devices() noexcept;
  [[nodiscard]] std::uint64_t id_of(CUgraphNode node) const;
  void deliver(const CUpti_Activity& record);
  static void CUPTIAPI on_callback(void* session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);
  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* records);
  static void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream,
                                           std::uint8_t* buffer, std::size_t size,
                                           std::size_t valid);

  LaunchGate gate_;
  std::atomic<bool> expected_{false};
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex mutex_;  // guards the members below; held while windows open and close
  std::map<const void*, WaitUntilIdle> devices_;
  std::uint32_t windows_ = 0;
  bool ended_ = false;
  CuptiLibrary::Loaded loaded_;
  CUpti_SubscriberHandle subscriber_ = nullptr;

  std::mutex owners_mutex_;  // guards owners_ and inner_nodes_: CUPTI's callbacks run on any thread
  std::unordered_map<std::uint64_t, Owner> owners_;  // key: CUPTI's id of a node
  struct InnerNode {
    std::uint32_t number = 0;
    Owner owner;
  };
  std::unordered_map<std::uint32_t, std::vector<InnerNode>>
      inner_nodes_;  // key: CUPTI's id of a graph that has not been instantiated yet

  ActivityBuffers buffers_;
};

}  // namespace reprise::detail
