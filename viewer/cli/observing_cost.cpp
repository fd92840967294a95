#include "cli/observing_cost.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "model/observed_run.hpp"
#include "model/temporary_files.hpp"

namespace reprise::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFewestLaunches = 20;
constexpr std::size_t kWarmUpPart = 10;
constexpr int kKindBit = 62;                                             // as in interposer.cpp
constexpr std::uint64_t kShortestPause = 10'000'000, kPauseFactor = 20;  // ns, times the median

struct Moment {
  std::uint64_t ns = 0;
  enum class Kind : std::uint8_t { BeforeLaunch, BeforeWait, AfterWait } kind = Kind::BeforeLaunch;
};

bool is_launch(const Moment& moment) { return moment.kind == Moment::Kind::BeforeLaunch; }

std::vector<Moment> read_moments(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t count = 0;
  file.read(reinterpret_cast<char*>(&count), sizeof(count));
  const std::uint64_t room = fs::file_size(path) / sizeof(std::uint64_t);
  if (!file || room < 2) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::uint64_t> times(std::min(count, room - 1));
  file.read(reinterpret_cast<char*>(times.data()),
            static_cast<std::streamsize>(times.size() * sizeof(std::uint64_t)));
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<Moment> moments;
  for (const std::uint64_t time : times) {
    moments.push_back({time & ((std::uint64_t{1} << kKindBit) - 1),
                       static_cast<Moment::Kind>(std::min<std::uint64_t>(time >> kKindBit, 2))});
  }
  std::sort(moments.begin(), moments.end(),  // those of several threads
            [](const Moment& a, const Moment& b) { return a.ns < b.ns; });
  return moments;
}

// The mean of the middle two of an even number: pairs are few.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The launches of one run in all its processes.
struct LaunchTimes {
  std::uint64_t launches = 0;
  // From launch to launch, after the first tenth. Without pauses in which the program did something
  // else: outside of waits, and far longer than it usually takes to the next launch or wait.
  double ns = 0;
};

// Reads the files of the launch clock in `folder`.
LaunchTimes launch_times(const fs::path& folder) {
  LaunchTimes all;
  std::uint64_t timed = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::vector<Moment> moments = read_moments(entry.path());
    const auto launches =
        static_cast<std::uint64_t>(std::count_if(moments.begin(), moments.end(), is_launch));
    std::vector<std::uint64_t> outside;  // times that do not end a wait
    for (std::uint64_t i = 0, launched = 0; i < moments.size(); ++i) {
      const std::uint64_t launch = is_launch(moments[i]) ? 1 : 0;
      if (launched > launches / kWarmUpPart) {
        const std::uint64_t ns = moments[i].ns - moments[i - 1].ns;
        if (moments[i].kind == Moment::Kind::AfterWait) {
          all.ns += static_cast<double>(ns);
        } else {
          outside.push_back(ns);
        }
        timed += launch;
      }
      launched += launch;
    }
    all.launches += launches;
    if (outside.empty()) continue;
    std::sort(outside.begin(), outside.end());
    const std::uint64_t longest =
        std::max(kShortestPause, kPauseFactor * outside[outside.size() / 2]);
    for (const std::uint64_t ns : outside) all.ns += ns <= longest ? static_cast<double>(ns) : 0;
  }
  if (timed != 0) all.ns /= static_cast<double>(timed);
  return all;
}

// Runs the program. Returns the time from launch to launch, ns.
double timed(ChildProcess child, const fs::path& interposer, const char* how) {
  const model::TemporaryFolder times_folder;
  child.environment[model::kInterposerVariable] = interposer.string();
  child.environment["REPRISE_RUN_CLOCK"] = times_folder.path().string();
  child.output = "/dev/null";
  const ChildExit exit = run_child(child);
  if (!exit.error.empty())
    throw std::runtime_error("cannot run " + child.command.front() + ": " + exit.error);
  if (exit.code != 0) {
    throw std::runtime_error("--measure-cost: the program " + std::string(how) +
                             " ended with exit code " + std::to_string(exit.code));
  }
  const LaunchTimes times = launch_times(times_folder.path());
  if (times.launches < kFewestLaunches) {
    throw std::runtime_error("--measure-cost: the program " + std::string(how) + " launched " +
                             counted(times.launches, "graph") + "; at least " +
                             std::to_string(kFewestLaunches) + " launches are needed");
  }
  return times.ns;
}

// The runs of a program, alone and observed, as times from launch to launch in ns.
std::string cost_text(const std::vector<double>& alone, const std::vector<double>& observed) {
  std::vector<double> costs;  // relative to the run alone
  for (std::size_t i = 0; i < alone.size(); ++i) costs.push_back(observed[i] / alone[i] - 1);
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  return "observing costs " + signed_percent(median_of(costs)) + " (" + signed_percent(*least) +
         " to " + signed_percent(*most) + " in " + counted(costs.size(), "pair") +
         " of runs): " + duration(median_of(alone)) + " from launch to launch alone, " +
         duration(median_of(observed)) + " observed";
}

}  // namespace

std::string measure_cost(const ChildProcess& alone, const ObservedProcess& observed,
                         const fs::path& interposer, std::size_t pairs) {
  std::vector<double> alone_ns, observed_ns;
  ProgressLine progress("measuring the cost of observing");
  while (observed_ns.size() < pairs) {
    progress.update(observed_ns.size(), pairs);
    alone_ns.push_back(timed(alone, interposer, "alone"));
    const model::TemporaryFolder trace;
    observed_ns.push_back(
        timed(observed(trace.path() / "run.reprise"), interposer, "under observation"));
  }
  return cost_text(alone_ns, observed_ns);
}

}  // namespace reprise::cli
