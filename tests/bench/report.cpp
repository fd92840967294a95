#include <algorithm>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/paired_ratios.hpp"
#include "bench.hpp"

namespace reprise::bench {

namespace {

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text,
                value >= 100 || value <= -100 ? "%.0f"
                : value >= 1 || value <= -1   ? "%.2f"
                                              : "%.4f",
                value);
  return text;
}

double figure_of(const Line& line) {
  return line.goal.of == Goal::Of::Ratio ? ratio_of(line) : summarise(line.ours).median;
}

bool reaches_goal(const Line& line) {
  return line.goal.of == Goal::Of::Nothing || figure_of(line) <= line.goal.at_most;
}

std::string goal_text(const Line& line) {
  if (line.goal.of == Goal::Of::Nothing) return "";
  return (reaches_goal(line) ? "reached: <= " : "MISSED: <= ") + number(line.goal.at_most) +
         (line.goal.of == Goal::Of::Ratio ? " x" : "");
}

std::string interval_text(const Line& line) {
  const detail::RatioInterval interval = detail::ratio_interval(line.ours, line.peers);
  return number(interval.low) + "-" + number(interval.high);
}

nlohmann::json to_json(const Summary& summary) {
  return {{"median", summary.median}, {"p10", summary.p10}, {"p99", summary.p99}};
}

}  // namespace

Summary summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.1), quantile(samples, 0.99)};
}

double ratio_of(const Line& line) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(line.ours.size(), line.peers.size()); ++i)
    ratios.push_back(line.ours[i] / line.peers[i]);
  return summarise(std::move(ratios)).median;
}

void Report::begin_bench(std::string name, std::string question) {
  std::printf("\n%s: %s\n", name.c_str(), question.c_str());
  std::printf("  %-34s %-15s %7s  %10s %10s %10s %-14s  %10s %7s %-15s  %s\n", "what", "shape",
              "nodes", "median", "p10", "p99", "unit", "peer", "ratio", "95 %", "goal");
  bench_ = std::move(name);
}

void Report::add(const Line& line) {
  const Summary ours = summarise(line.ours), peer = summarise(line.peers);
  const bool has_peer = !line.peers.empty();
  std::printf("  %-34s %-15s %7u  %10s %10s %10s %-14s  %10s %7s %-15s  %s\n", line.what.c_str(),
              line.shape.c_str(), line.nodes, number(ours.median).c_str(), number(ours.p10).c_str(),
              number(ours.p99).c_str(), line.unit.c_str(),
              has_peer ? number(peer.median).c_str() : "",
              has_peer ? number(ratio_of(line)).c_str() : "",
              has_peer ? interval_text(line).c_str() : "", goal_text(line).c_str());
  std::fflush(stdout);
  entries_.push_back({bench_, line});
}

void Report::skip(const std::string& what, const std::string& reason) {
  std::printf("  %s: not measured: %s\n", what.c_str(), reason.c_str());
  std::fflush(stdout);
  skipped_.push_back({bench_, what, reason});
}

nlohmann::json Report::skipped_to_json() const {
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& [bench, what, reason] : skipped_)
    entries.push_back({{"bench", bench}, {"what", what}, {"reason", reason}});
  return entries;
}

std::uint32_t Report::missed_goals() const {
  return static_cast<std::uint32_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [](const Entry& entry) { return !reaches_goal(entry.line); }));
}

nlohmann::json Report::to_json() const {
  nlohmann::json lines = nlohmann::json::array();
  for (const auto& [bench, line] : entries_) {
    nlohmann::json entry = {{"bench", bench},
                            {"what", line.what},
                            {"shape", line.shape},
                            {"nodes", line.nodes},
                            {"unit", line.unit},
                            {"samples", line.ours.size()},
                            {"ours", bench::to_json(summarise(line.ours))}};
    if (!line.axes.empty()) entry["axes"] = line.axes;
    if (!line.peers.empty()) {
      entry["peer"] = bench::to_json(summarise(line.peers));
      entry["peer"]["name"] = line.peer;
      entry["ratio"] = ratio_of(line);
      const detail::RatioInterval interval = detail::ratio_interval(line.ours, line.peers);
      entry["ratio_interval"] = {interval.low, interval.high};
    }
    if (line.goal.of != Goal::Of::Nothing) {
      entry["goal"] = {{"of", line.goal.of == Goal::Of::Ratio ? "ratio" : "median"},
                       {"at_most", line.goal.at_most},
                       {"reached", reaches_goal(line)}};
    }
    lines.push_back(std::move(entry));
  }
  return lines;
}

}  // namespace reprise::bench
