// BodyNode: a node that runs whole programs: one program once, or one selected by a condition.
// Programs run in order on one thread; their kernels and segments may use the whole arena. Threads:
// one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/callback_errors.hpp"
#include "backend/host/device_generation.hpp"
#include "backend/host/replay_state.hpp"
#include "plan/timing_layout.hpp"

namespace reprise::detail {

class WorkerArena;
class HostProgram;

class BodyNode {
 public:
  // State shared by all nodes of a program; outlives them.
  struct Shared {
    const DeviceGeneration* generation = nullptr;
    ReplayState* state = nullptr;
    const TimingLayout* timing = nullptr;
  };
  // `loop`: the number of a loop; ignored for other branches.
  BodyNode(const Shared& shared, const ConditionalPayload& conditional, std::byte* condition,
           std::uint32_t loop);
  explicit BodyNode(const Shared& shared);  // runs its one program once
  BodyNode(BodyNode&&) noexcept;
  BodyNode& operator=(BodyNode&&) noexcept;
  ~BodyNode();

  // `body`: the program's number in the timing layout.
  void add(std::unique_ptr<HostProgram> program, std::uint32_t body);
  [[nodiscard]] bool has_callbacks() const noexcept;
  // Stops between two nodes or iterations if the device is lost.
  void run(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors) noexcept;

 private:
  enum class Kind : std::uint8_t { Once, If, While, Switch };

  [[nodiscard]] std::uint32_t condition() const noexcept;
  void run_body(std::size_t body, WorkerArena& workers, std::uint64_t replay,
                CallbackErrors& errors) noexcept;
  void run_loop(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors) noexcept;

  Shared shared_;
  Kind kind_ = Kind::Once;
  std::uint32_t* condition_ = nullptr;
  std::uint64_t max_iterations_ = 0;
  std::uint32_t loop_ = 0;
  std::vector<std::unique_ptr<HostProgram>> bodies_;
  std::vector<std::uint32_t> body_numbers_;  // numbers of bodies_ in the timing layout
};

}  // namespace reprise::detail
