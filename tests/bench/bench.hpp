// Shared parts of the benchmarks: options, paired samples, report. Threads: one.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace reprise::bench {

// The parameters of cuda.lowering. It measures every shape with every kernel in every size,
// interleaved so that any prefix covers all of them.
inline constexpr std::uint32_t kMaxTasks = 16384;  // nodes
struct LoweringAxes {
  std::vector<std::string> shapes;  // of test::task_graph_names(); empty: all
  std::vector<std::string> kernels = {"empty", "2us", "10us", "100us"};
  std::vector<std::string> lowerings = {"auto"};
  std::vector<std::uint32_t> nodes = {100, 1000};
  std::string beside;  // kernel that a second queue runs all the time; empty: none
  double budget = 60;  // seconds after which no point starts
  // maximum seconds per point while its confidence intervals are wide
  double point_budget = 1;
};

struct Options {
  enum class Effort : std::uint8_t {
    Full,
    // Quick: small sizes and few samples, to check that everything runs
    Quick
  };
  Effort effort = Effort::Full;
  std::string filter;  // part of a benchmark's name; empty: all
  std::string json;    // file to write; empty: none
  bool check = false;  // a missed goal fails the run
  LoweringAxes axes;   // of cuda.lowering
  [[nodiscard]] bool is_quick() const { return effort == Effort::Quick; }
};

// A target for a result. It is printed with the result; with --check a missed one fails the run.
struct Goal {
  enum class Of : std::uint8_t { Nothing, Median, Ratio };
  Of of = Of::Nothing;
  double at_most = 0;
};

// One result: samples of Reprise, interleaved with samples of a peer that does the same work.
struct Line {
  std::string what = {};
  std::string shape = {};
  std::uint32_t nodes = 0;
  std::string unit = {};
  std::string peer = {};                         // empty: none
  std::map<std::string, std::string> axes = {};  // parameter values by name
  Goal goal = {};
  std::vector<double> ours = {}, peers = {};  // pairs, if there is a peer
};

struct Summary {
  double median = 0, p10 = 0, p99 = 0;
};
[[nodiscard]] Summary summarise(std::vector<double> samples);
// Median of the pairwise ratios; 0 without a peer.
[[nodiscard]] double ratio_of(const Line& line);

class Report {
 public:
  void begin_bench(std::string name, std::string question);
  void add(const Line& line);  // also prints it
  // records and prints a point that was not measured
  void skip(const std::string& what, const std::string& reason);
  [[nodiscard]] nlohmann::json to_json() const;  // all lines
  [[nodiscard]] nlohmann::json skipped_to_json() const;
  [[nodiscard]] std::uint32_t missed_goals() const;

 private:
  struct Entry {
    std::string bench;
    Line line;
  };
  struct Skipped {
    std::string bench, what, reason;
  };
  std::string bench_;
  std::vector<Entry> entries_;
  std::vector<Skipped> skipped_;
};

[[nodiscard]] inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
template <class F>
[[nodiscard]] double ns_of(F&& work) {
  const double begin = now_ns();
  work();
  return now_ns() - begin;
}

// CPU time of the calling thread, unaffected by other processes. For work that never blocks.
template <class F>
[[nodiscard]] double cpu_ns_of(F&& work) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

// The usual number of pairs of measure_pairs().
[[nodiscard]] inline std::uint32_t pairs(const Options& options) {
  return options.is_quick() ? 3 : 21;
}

// Takes `pairs` samples of both, alternating which comes first, after one warm-up of each.
template <class Ours, class Peer>
void measure_pairs(Line& line, std::uint32_t pairs, Ours&& ours, Peer&& peer) {
  static_cast<void>(ours());
  static_cast<void>(peer());
  for (std::uint32_t i = 0; i < pairs; ++i) {
    if (i % 2 == 0) line.ours.push_back(ours());
    line.peers.push_back(peer());
    if (i % 2 != 0) line.ours.push_back(ours());
  }
}

// A benchmark adds its lines to the report; --filter matches its name.
struct Bench {
  const char* name;
  const char* question;
  void (*run)(const Options& options, Report& report);
};
void run_record(const Options& options, Report& report);
void run_compile(const Options& options, Report& report);
void run_counts(const Options& options, Report& report);
void run_planning(const Options& options, Report& report);
void run_host_replay(const Options& options, Report& report);
void run_host_warps(const Options& options, Report& report);
void run_trace_file(const Options& options, Report& report);
void run_trace_replays(const Options& options, Report& report);
#ifdef REPRISE_HAS_VIEWER
void run_layout(const Options& options, Report& report);
void run_model_open(const Options& options, Report& report);
void run_model_live(const Options& options, Report& report);
#endif
#ifdef REPRISE_HAS_CUDA
void run_cuda_compile(const Options& options, Report& report);
void run_cuda_instantiate(const Options& options, Report& report);
void run_cuda_launch(const Options& options, Report& report);
void run_cuda_replay(const Options& options, Report& report);
void run_cuda_lowering(const Options& options, Report& report);
void run_cuda_copies(const Options& options, Report& report);
void run_cuda_blocks(const Options& options, Report& report);
#ifdef REPRISE_HAS_SAMPLES
void run_cuda_samples(const Options& options, Report& report);
void run_cuda_cholesky(const Options& options, Report& report);
#endif
void run_memory(const Options& options, Report& report);
void run_update_scalar(const Options& options, Report& report);
void run_update_graph(const Options& options, Report& report);
#ifdef REPRISE_HAS_OPS
void run_ops_gemm(const Options& options, Report& report);
void run_ops_fft(const Options& options, Report& report);
#endif
void run_cuda_promises(const Options& options, Report& report);
void run_profile_nvtx(const Options& options, Report& report);
void run_profile_replays(const Options& options, Report& report);
void run_profile_nodes(const Options& options, Report& report);
void run_profile_cupti(const Options& options, Report& report);
void run_profile_raw(const Options& options, Report& report);
#endif

}  // namespace reprise::bench
