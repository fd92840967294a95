#include "model/rank_clocks.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace reprise::model {

using trace::kUnknownError;
using trace::Time;

namespace {

Time sum_of_errors(Time a, Time b) noexcept {
  return a >= kUnknownError - b ? kUnknownError : a + b;
}

}  // namespace

RankClocks::RankClocks(const Document& document) : clocks_(document.sessions->size()) {
  if (!document.alignments->empty()) reference_ = document.alignments->begin()->second.reference;
  std::map<std::string, std::uint32_t> hosts;
  for (std::uint32_t s = 0; s < clocks_.size(); ++s) {
    const std::string& clock = (*document.sessions)[s].clock;
    clocks_[s].host = clock.empty() ? s : hosts.emplace(clock, s).first->second;
    const auto found = document.alignments->find(s);
    if (found != document.alignments->end()) {
      clocks_[s].host_error = std::clamp(found->second.error, Time{0}, kUnknownError);
    } else {
      clocks_[s].host_error = s == reference_ ? 0 : kUnknownError;
    }
  }
  for (const trace::Clock& clock : document.clocks) {
    if (clock.device == trace::kNone || clocks_.empty()) continue;
    Time& error = clocks_[document.session_of_device(clock.device)].device_error;
    error = std::max(error, std::clamp(clock.error, Time{0}, kUnknownError));
  }
  Time hosts_sum = 0, largest_host = 0, largest_device = 0, devices_sum = 0;
  // Keeps the sum of the two largest errors.
  const auto take = [](Time error, Time& largest, Time& sum) {
    sum = std::max(sum, sum_of_errors(largest, error));
    largest = std::max(largest, error);
  };
  std::uint32_t hosts_count = 0;
  for (std::uint32_t s = 0; s < clocks_.size(); ++s) {
    take(clocks_[s].device_error, largest_device, devices_sum);
    if (clocks_[s].host != s) continue;  // another session of the host
    ++hosts_count;
    take(clocks_[s].host_error, largest_host, hosts_sum);
  }
  max_bound_ = sum_of_errors(hosts_count > 1 ? hosts_sum : 0, devices_sum);
}

Time RankClocks::bound(std::uint32_t session, std::uint32_t other) const noexcept {
  if (session == other) return 0;
  if (std::max(session, other) >= clocks_.size()) return kUnknownError;
  const Clock &a = clocks_[session], &b = clocks_[other];
  const Time hosts = a.host == b.host ? 0 : sum_of_errors(a.host_error, b.host_error);
  return sum_of_errors(hosts, sum_of_errors(a.device_error, b.device_error));
}

Time RankClocks::error(std::uint32_t session) const noexcept {
  const Clock& clock = clocks_[session];
  return session == reference_ ? 0 : sum_of_errors(clock.host_error, clock.device_error);
}

}  // namespace reprise::model
