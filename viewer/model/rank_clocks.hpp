// RankClocks: how far the difference of two times of different ranks may be wrong. Threads: an
// immutable value.
#pragma once

#include <cstdint>
#include <vector>

#include "model/document.hpp"

namespace reprise::model {

class RankClocks {
 public:
  explicit RankClocks(const Document& document);

  // The bound for a time of each session minus one of the other, ns; kUnknownError: none, or the
  // document lacks a session.
  [[nodiscard]] trace::Time bound(std::uint32_t session, std::uint32_t other) const noexcept;
  // Whether the difference of two times of them is certainly positive.
  [[nodiscard]] bool is_certain(trace::Time difference, std::uint32_t session,
                                std::uint32_t other) const noexcept {
    return difference > bound(session, other);
  }
  // The max bound of any two sessions, ns.
  [[nodiscard]] trace::Time max_bound() const noexcept { return max_bound_; }
  // The error bound of the times of a session against the clock of the reference, ns.
  [[nodiscard]] trace::Time error(std::uint32_t session) const noexcept;
  [[nodiscard]] std::uint32_t reference() const noexcept { return reference_; }

 private:
  struct Clock {
    std::uint32_t host = 0;        // equal for sessions that share a host clock
    trace::Time host_error = 0;    // against the reference
    trace::Time device_error = 0;  // of device times against the host clock
  };
  std::vector<Clock> clocks_;  // by session
  std::uint32_t reference_ = 0;
  trace::Time max_bound_ = 0;
};

}  // namespace reprise::model
