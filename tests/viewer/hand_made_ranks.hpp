// A distributed job whose ranks record traces with known times: every step of a replay computes and
// then runs an all-reduce beside a kernel that overlaps with it. Each host has its own clock. The
// same options give the same records. Threads: const members may run concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trace/codec.hpp"

namespace reprise::test {

struct HandMadeRanks {
  std::uint32_t ranks = 4, ranks_per_host = 2;
  std::uint64_t replays = 40;
  std::uint32_t steps = 2;  // per replay; of 3 nodes, or 2 without overlapped communication
  std::uint64_t seed = 1;

  trace::Time period = 10'000'000;                    // between the launches of two replays
  trace::Time compute = 100'000;                      // of a step
  trace::Time overlapped = 30'000, exposed = 20'000;  // parts of an all-reduce after the last rank
  trace::Time jitter = 20'000;                        // maximum delay of a rank's arrival
  trace::Time end_jitter = 2'000;                     // maximum delay of a rank's end

  // Additional compute time of a rank in one step of replays [first, last].
  struct Straggler {
    std::uint32_t rank = 0, step = 0;
    std::uint64_t first = 1, last = ~std::uint64_t{0};
    trace::Time delay = 0;
  };
  std::vector<Straggler> stragglers = {};

  // Maximum difference of the clocks of two hosts. Host 0 shows the true time.
  trace::Time skew = 1'000'000'000;
  double drift = 50e-6;
  bool share_clocks = true;             // sessions name the clock of their host
  bool has_collectives = true;          // otherwise the step is an ordinary kernel
  bool has_exchanges = true;            // of every rank that is not on host 0
  bool chain_exchanges = false;         // with the host before, instead of host 0
  std::uint64_t exchange_interval = 5;  // replays
  trace::Time exchange_delay = 50'000;  // maximum of each direction
  trace::Time gpu_clock_error = 0;      // of device times; random for every replay
  std::uint64_t communicator = 0xc0ffee;
};

class HandMadeJob {
 public:
  static constexpr trace::Time kBegin = 7'000'000'000'000;
  static constexpr std::uint32_t kGraph = 3, kQueue = 4, kPool = 2, kBuffer = 5, kThread = 77;

  explicit HandMadeJob(HandMadeRanks options);

  [[nodiscard]] const HandMadeRanks& options() const noexcept { return options_; }
  [[nodiscard]] std::uint32_t host(std::uint32_t rank) const noexcept {
    return rank / options_.ranks_per_host;
  }
  // The host clock of the rank at a true time, and the reverse.
  [[nodiscard]] trace::Time own_time(std::uint32_t rank, trace::Time true_time) const;
  [[nodiscard]] trace::Time true_time(std::uint32_t rank, trace::Time own_time) const;
  // When the last rank arrives at the collective of the step; replays count from 1.
  [[nodiscard]] trace::Time last_arrival(std::uint64_t replay, std::uint32_t step) const {
    return arrivals_[(replay - 1) * options_.steps + step];
  }
  // When the rank arrives at the collective of the step.
  [[nodiscard]] trace::Time arrival(std::uint32_t rank, std::uint64_t replay,
                                    std::uint32_t step) const;
  [[nodiscard]] std::uint32_t nodes_per_step() const noexcept {
    return options_.overlapped != 0 ? 3 : 2;
  }

  // The records of one rank: the descriptions, and the replays, samples and exchanges by time.
  [[nodiscard]] trace::Records topology(std::uint32_t rank) const;
  [[nodiscard]] trace::Records events(std::uint32_t rank) const;
  // Writes the trace of one rank. Throws TraceError.
  void write(std::uint32_t rank, const std::filesystem::path& path) const;
  // Writes rank-0.reprise and so on into the folder; returns the paths by rank.
  [[nodiscard]] std::vector<std::filesystem::path> write_all(
      const std::filesystem::path& folder) const;

 private:
  [[nodiscard]] trace::Time random(std::uint64_t what, std::uint64_t rank, std::uint64_t replay,
                                   std::uint64_t step, trace::Time max) const;
  // The true time at which the rank starts the step.
  [[nodiscard]] trace::Time step_start(std::uint32_t rank, std::uint64_t replay,
                                       std::uint32_t step) const;
  [[nodiscard]] trace::Time step_end(std::uint32_t rank, std::uint64_t replay,
                                     std::uint32_t step) const;
  [[nodiscard]] trace::GraphVersion graph(std::uint32_t rank) const;

  HandMadeRanks options_;
  std::vector<trace::Time> arrivals_;  // of the last rank, by replay and step
};

}  // namespace reprise::test
