// ActivitySession: CUPTI at work in this process, from the first window that is opened to the last
// one that is closed. Attaching makes every graph of the process slower, and an executable that was
// uploaded on the other side of an attach or a detach must be uploaded again before its next
// launch: epoch() counts both. While either happens nobody launches, and nothing runs on the
// devices concerned. When the process ends, so does CUPTI, before its own library is torn down.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/activity/activity_buffers.hpp"
#include "profile/activity/cupti_library.hpp"
#include "profile/activity/cupti_records.hpp"
#include "profile/activity/launch_gate.hpp"

namespace reprise::detail {

class ActivitySession {
 public:
  // What one window gets of its twin. Kept by the window while it is open.
  struct Sink {
    std::mutex mutex;  // of what stands below
    ReplayRuns runs{0};
    std::uint64_t untimed = 0;  // records without times
  };

  // The process's one. What it has is never given back: launches of threads that end last still
  // pass the gate.
  [[nodiscard]] static ActivitySession& of_process();

  // From now on launches pass the gate, because windows may be opened while graphs run on the
  // device that `identity` stands for. `wait_until_idle` returns when nothing runs there, and
  // throws nothing.
  void expect(const void* identity, std::function<void()> wait_until_idle);
  // What launches, uploads and instantiations pass; null: nobody expects windows.
  [[nodiscard]] LaunchGate* gate() noexcept {
    return expected_.load(std::memory_order_relaxed) ? &gate_ : nullptr;
  }
  // Another number after each attach and each detach.
  [[nodiscard]] std::uint32_t epoch() const noexcept {
    return epoch_.load(std::memory_order_acquire);
  }

  // Attaches, if this is the first window, and calls `make` then. Where it cannot, or `make`
  // throws, nothing is left behind. Empty: it is open; else why not, in plain words.
  [[nodiscard]] std::string open(const std::function<void()>& make);
  // Flushes, calls `unmake` while nothing runs, and detaches if this was the last window.
  void close(const std::function<void()>& unmake) noexcept;

  // In `make`: `node`, of a graph that an executable will be made of, is `place` of a replay of the
  // twin whose records `sink` takes; so are those that CUDA makes of it. Throws what CUPTI says.
  void claim(CUgraphNode node, std::uint32_t place, const std::shared_ptr<Sink>& sink);
  // The same of a node inside a child graph or a conditional's body, which CUPTI knows by another
  // name in the executable: CUDA 13.0 takes such graphs apart there and gives what is in them
  // numbers behind those of the graph itself: graph by graph, in order of the nodes that hold them,
  // each before those inside it. `of` is any node of the graph itself.
  void claim_inside(CUgraphNode of, std::uint32_t number, std::uint32_t place,
                    const std::shared_ptr<Sink>& sink);
  // Asks CUPTI for everything that is over. Records come to their sinks before it returns.
  void flush() noexcept;
  // Records for which there was no room.
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
  [[nodiscard]] std::string attach();  // under mutex_, the gate closed
  void detach() noexcept;              // the same
  void end() noexcept;                 // no window is there from now on, and none is opened
  void wait_for_devices() noexcept;    // the same
  [[nodiscard]] std::uint64_t id_of(CUgraphNode node) const;
  void take(const CUpti_Activity& record);
  static void CUPTIAPI on_callback(void* session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);
  static void CUPTIAPI on_buffer_wanted(std::uint8_t** buffer, std::size_t* size,
                                        std::size_t* records);
  static void CUPTIAPI on_buffer_full(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                      std::size_t size, std::size_t valid);

  LaunchGate gate_;
  std::atomic<bool> expected_{false};
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex mutex_;  // of what stands below; held while windows open and close
  std::map<const void*, std::function<void()>> devices_;
  std::uint32_t windows_ = 0;
  bool ended_ = false;
  CuptiLibrary::Loaded loaded_;
  CUpti_SubscriberHandle subscriber_ = nullptr;

  std::mutex owners_mutex_;  // of owners_; callbacks and buffers come on any thread
  std::unordered_map<std::uint64_t, Owner> owners_;  // by CUPTI's id of a node
  struct Inside {
    std::uint32_t number = 0;
    Owner owner;
  };
  std::unordered_map<std::uint32_t, std::vector<Inside>>
      inside_;  // by CUPTI's id of a graph that no executable was made of yet

  ActivityBuffers buffers_;
};

}  // namespace reprise::detail
