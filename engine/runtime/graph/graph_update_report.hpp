// Filling in an UpdateReport. Threads: pure functions, but for the clock.
#pragma once

#include <chrono>

#include <reprise/graph_update.hpp>

#include "backend/exec_update.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class UpdateClock {
 public:
  [[nodiscard]] std::chrono::nanoseconds elapsed() const {
    return std::chrono::steady_clock::now() - began_;
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// What a backend refused, of `plan`: outcome, native code, command, edge, and the reason in words.
void note_refusal(const ExecUpdate& refused, const Plan& plan, UpdateReport& report);

// How far it went, and what kept it from a cheaper rung.
[[nodiscard]] std::string describe(const UpdateReport& report);

}  // namespace reprise::detail
