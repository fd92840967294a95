#include "compile/cost_profile_file.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/failure.hpp"
#include "base/json_number.hpp"
#include "base/json_parser.hpp"
#include "base/text.hpp"
#include "compile/json_file.hpp"

namespace reprise::detail {
namespace {

constexpr int kCostsVersion = 1;
constexpr std::pair<GraphCosts::TimedBy, std::string_view> kTimedBy[] = {
    {GraphCosts::TimedBy::HostClock, "host clock"},
    {GraphCosts::TimedBy::Timestamps, "timestamps"},
    {GraphCosts::TimedBy::Profiler, "profiler"}};

[[noreturn]] void fail_costs_file(const std::filesystem::path& path, std::string_view problem) {
  fail(ErrorCode::InvalidArgument, Stage::Profile, "",
       concat("costs file ", path.string(), ": ", problem));
}

std::string sixteen_digits(std::uint64_t hash) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, hash, 16);
  const std::string text(digits, end);
  return std::string(16 - text.size(), '0') + text;
}

std::uint64_t hash_of_digits(const std::string& text) {
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::out_of_range(concat("a plan \"", text, "\""));
  return hash;
}

nlohmann::json json_of(const GraphCosts& graph) {
  const auto timed_by =
      std::find_if(std::begin(kTimedBy), std::end(kTimedBy),
                   [&](const auto& known) { return known.first == graph.timed_by; });
  nlohmann::json commands = nlohmann::json::array();
  for (const CommandCost& cost : graph.commands) {
    commands.push_back({{"command", cost.command},
                        {"label", cost.label},
                        {"name", cost.name},
                        {"work", cost.work},
                        {"us", cost.time.count()}});
  }
  return {{"label", graph.label},
          {"device", graph.device},
          {"plan", sixteen_digits(graph.plan_hash)},
          {"replays", graph.replays},
          {"timed_by", timed_by->second},
          {"commands", std::move(commands)}};
}

GraphCosts graph_of(const nlohmann::json& json) {
  const auto name = json.at("timed_by").get<std::string>();
  const auto timed_by = std::find_if(std::begin(kTimedBy), std::end(kTimedBy),
                                     [&](const auto& known) { return known.second == name; });
  if (timed_by == std::end(kTimedBy)) throw std::out_of_range(concat("timed by \"", name, "\""));
  GraphCosts graph{.timed_by = timed_by->first,
                   .label = json.at("label").get<std::string>(),
                   .device = json.at("device").get<std::string>(),
                   .plan_hash = hash_of_digits(json.at("plan").get<std::string>()),
                   .replays = json_uint32(json.at("replays"), "replays")};
  for (const nlohmann::json& cost : json.at("commands")) {
    const auto us = cost.at("us").get<double>();
    constexpr double kMax = 1e12;  // more than a week: sums stay exact
    if (!(us >= 0 && us <= kMax))
      throw std::out_of_range(concat("a command that takes ", cost.at("us").dump(), " us"));
    graph.commands.push_back(
        {json_uint32(cost.at("command"), "command"), cost.at("label").get<std::string>(),
         cost.at("name").get<std::string>(),
         json_integer(cost.at("work"), "work", std::numeric_limits<std::uint64_t>::max()),
         std::chrono::duration<double, std::micro>(us)});
  }
  std::sort(graph.commands.begin(), graph.commands.end(),
            [](const CommandCost& a, const CommandCost& b) { return a.command < b.command; });
  return graph;
}

}  // namespace

bool is_cost_profile_file(const std::filesystem::path& path) {
  std::error_code ignored;  // the open of a pipe would wait for a writer
  return std::filesystem::is_regular_file(path, ignored) &&
         std::ifstream(path, std::ios::binary).get() == '{';
}

CostProfile read_cost_profile_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const nlohmann::json json = parse_json(file);
  if (json.is_discarded() || !json.contains("reprise_costs") ||
      !json["reprise_costs"].is_number_integer()) {
    fail_costs_file(path, "save_cost_profile() did not write it");
  }
  if (const auto version = json["reprise_costs"].get<std::int64_t>(); version != kCostsVersion) {
    fail_costs_file(path, concat("its version is ", version, ", and this program reads version ",
                                 kCostsVersion));
  }
  CostProfile costs;
  costs.source = path.string();
  try {
    for (const nlohmann::json& graph : json.at("graphs")) costs.graphs.push_back(graph_of(graph));
  } catch (const std::exception& error) {
    fail_costs_file(path, concat("it is malformed: ", error.what()));
  }
  return costs;
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

void save_cost_profile(const CostProfile& profile, const std::filesystem::path& path) {
  for (const GraphCosts& graph : profile.graphs)
    detail::require_enumerator("GraphCosts::timed_by", graph.timed_by, Stage::Profile, graph.label);
  nlohmann::json graphs = nlohmann::json::array();
  for (const GraphCosts& graph : profile.graphs) graphs.push_back(detail::json_of(graph));
  std::vector<detail::FileAccess> sources;
  if (!profile.source.empty()) sources.push_back(detail::access_of(profile.source));
  detail::write_json_file(path,
                          {{"reprise_costs", detail::kCostsVersion}, {"graphs", std::move(graphs)}},
                          "the costs", Stage::Profile, std::move(sources));
}

}  // namespace reprise::inline REPRISE_ABI
