// HostProgress: the thread that moves the collectives of a rank on the host device. It starts them
// in the order of their submission and polls those in progress. Threads: any.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <reprise/graph_op.hpp>

#include "collectives/host_transport.hpp"

namespace reprise::detail {

class HostProgress {
 public:
  HostProgress() = default;
  HostProgress(const HostProgress&) = delete;
  HostProgress& operator=(const HostProgress&) = delete;
  ~HostProgress();  // nothing is in progress

  // Both the transport and `calls` outlive the call of `done`.
  void submit(HostTransport& transport, std::span<const CollectiveCall> calls,
              GraphRecordCtx::StepDone done);

 private:
  struct Work {
    HostTransport* transport = nullptr;
    std::span<const CollectiveCall> calls;
    GraphRecordCtx::StepDone done;
    std::unique_ptr<HostTransport::Operation> operation = nullptr;
  };
  void run();
  // Starts or polls; true if the work has ended.
  [[nodiscard]] static bool advance(Work& work) noexcept;

  std::mutex mutex_;  // protects the members below
  std::condition_variable submitted_;
  std::deque<Work> queue_;
  bool stops_ = false;
  std::thread thread_;  // started by the first submission
};

}  // namespace reprise::detail
