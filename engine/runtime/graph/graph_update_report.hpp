// Fills in UpdateReports. Threads: any thread.
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

// Describes in `report` why the backend refused an update to `plan`: outcome, native code, command,
// edge, and reason.
void report_refusal(const ExecUpdate& refused, const Plan& plan, UpdateReport& report);

// The method that was used, and the reason why no cheaper one was.
[[nodiscard]] std::string describe(const UpdateReport& report);

}  // namespace reprise::detail
