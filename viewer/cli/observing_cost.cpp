#include "cli/observing_cost.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "cli/progress_line.hpp"
#include "cli/text.hpp"

namespace reprise::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFewestLaunches = 20;
constexpr std::size_t kWarmUpPart = 10;
constexpr int kKindBit = 62;                                             // as in launch_clock.cpp
constexpr std::uint64_t kShortestPause = 10'000'000, kPauseFactor = 20;  // ns, times the median

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "reprise-cost-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "cannot create " + path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] fs::path path() const { return path_; }

 private:
  std::string path_;
};

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

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

LaunchTimes timed(ChildProcess child, const fs::path& folder, const fs::path& clock,
                  const char* how) {
  child.environment["LD_AUDIT"] = clock.string();
  child.environment["REPRISE_RUN_CLOCK"] = folder.string();
  child.output = ChildProcess::Output::Discarded;
  const ChildExit exit = run_child(child);
  if (!exit.error.empty())
    throw std::runtime_error("cannot run " + child.command.front() + ": " + exit.error);
  if (exit.code != 0) {
    throw std::runtime_error("--measure-cost: the program " + std::string(how) +
                             " ended with exit code " + std::to_string(exit.code));
  }
  const LaunchTimes times = launch_times(folder);
  if (times.launches < kFewestLaunches) {
    throw std::runtime_error("--measure-cost: the program " + std::string(how) + " launched " +
                             counted(times.launches, "graph") + "; at least " +
                             std::to_string(kFewestLaunches) + " launches are needed");
  }
  return times;
}

}  // namespace

LaunchTimes launch_times(const fs::path& folder) {
  LaunchTimes all;
  std::uint64_t intervals = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::vector<Moment> moments = read_moments(entry.path());
    const auto launches =
        static_cast<std::size_t>(std::count_if(moments.begin(), moments.end(), is_launch));
    all.launches += launches;
    std::vector<std::uint64_t> waits, others;
    std::size_t launched = 0;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      if (launched > launches / kWarmUpPart) {
        const bool is_wait = moments[i].kind == Moment::Kind::AfterWait;
        (is_wait ? waits : others).push_back(moments[i].ns - moments[i - 1].ns);
        intervals += is_launch(moments[i]) ? 1 : 0;
      }
      launched += is_launch(moments[i]) ? 1 : 0;
    }
    if (others.empty()) continue;
    std::sort(others.begin(), others.end());
    const std::uint64_t longest =
        std::max(kShortestPause, kPauseFactor * others[others.size() / 2]);
    others.erase(std::upper_bound(others.begin(), others.end(), longest), others.end());
    for (const auto& part : {waits, others})
      for (const std::uint64_t ns : part) all.ns += static_cast<double>(ns);
  }
  if (intervals != 0) all.ns /= static_cast<double>(intervals);
  return all;
}

ObservingCost cost_of(const std::vector<RunPair>& pairs) {
  std::vector<double> costs, alone, observed;
  for (const RunPair& pair : pairs) {
    costs.push_back(pair.observed.ns / pair.alone.ns - 1);
    alone.push_back(pair.alone.ns);
    observed.push_back(pair.observed.ns);
  }
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  return {median_of(costs), *least, *most, median_of(alone), median_of(observed)};
}

std::string cost_text(const ObservingCost& cost, std::size_t pairs) {
  return "observing costs " + signed_percent(cost.median) + " (" + signed_percent(cost.least) +
         " to " + signed_percent(cost.most) + " in " + counted(pairs, "pair") +
         " of runs): " + duration(cost.alone) + " from launch to launch alone, " +
         duration(cost.observed) + " observed";
}

ObservingCost measure_cost(const ChildProcess& alone, const ObservedProcess& observed,
                           const fs::path& clock, std::size_t pairs) {
  std::vector<RunPair> done;
  ProgressLine progress("measuring the cost of observing");
  while (done.size() < pairs) {
    progress.update(done.size(), pairs);
    const TemporaryFolder alone_times, observed_times, trace;
    RunPair pair;
    pair.alone = timed(alone, alone_times.path(), clock, "alone");
    pair.observed = timed(observed(trace.path() / "run.reprise"), observed_times.path(), clock,
                          "under observation");
    done.push_back(pair);
  }
  return cost_of(done);
}

}  // namespace reprise::cli
