#include "compile/tuning_file.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/failure.hpp"
#include "base/json_number.hpp"
#include "base/json_parser.hpp"
#include "base/text.hpp"
#include "compile/json_file.hpp"

namespace reprise::detail {

namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::uint32_t kMaxLanes = 65535;

[[noreturn]] void fail_file(const std::filesystem::path& path, std::string_view problem) {
  fail(ErrorCode::InvalidArgument, Stage::Lowering, "",
       concat("tuning file ", path.string(), ": ", problem));
}

std::string hash_text(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

constexpr std::pair<LoweringConfig::Shape, const char*> kShapes[] = {
    {LoweringConfig::Shape::Faithful, "faithful"},
    {LoweringConfig::Shape::EntryExit, "entry-exit"},
    {LoweringConfig::Shape::Lanes, "lanes"},
    {LoweringConfig::Shape::CostBased, "lanes by cost"},
    {LoweringConfig::Shape::Segments, "segments"}};

Json to_json(const LoweringConfig& choice) {
  const auto shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                  [&](const auto& known) { return known.first == choice.shape; });
  Json json = {{"shape", shape->second}};
  if (choice.lanes != 0) json["lanes"] = choice.lanes;
  if (!choice.costs.empty()) json["costs_ns"] = choice.costs;
  if (choice.starts == LoweringConfig::Starts::Ordered) json["early_starts"] = false;
  return json;
}

LoweringConfig choice_of(const Json& json) {
  LoweringConfig choice;
  const auto name = json.at("shape").get<std::string>();
  const auto shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                  [&](const auto& known) { return known.second == name; });
  if (shape == std::end(kShapes)) throw std::out_of_range(concat("a shape \"", name, "\""));
  choice.shape = shape->first;
  if (const auto lanes = json.find("lanes"); lanes != json.end())
    choice.lanes = json_uint32(*lanes, "lanes");
  const bool needs_lanes = choice.shape == LoweringConfig::Shape::Lanes ||
                           choice.shape == LoweringConfig::Shape::CostBased ||
                           choice.shape == LoweringConfig::Shape::Segments;
  if (needs_lanes && (choice.lanes == 0 || choice.lanes > kMaxLanes))
    throw std::out_of_range(concat(choice.lanes, " lanes"));
  if (const auto costs = json.find("costs_ns"); costs != json.end()) {
    if (!costs->is_array()) throw std::out_of_range("\"costs_ns\" is not a list");
    for (const Json& cost : *costs) choice.costs.push_back(json_uint32(cost, "costs_ns"));
  }
  if (!json.value("early_starts", true)) choice.starts = LoweringConfig::Starts::Ordered;
  return choice;
}

// Null if the file does not exist.
Json read(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return nullptr;
  if (!std::filesystem::is_regular_file(path, error)) fail_file(path, "it is not a regular file");
  std::ifstream file(path, std::ios::binary);
  Json json = parse_json(file);
  if (!file || json.is_discarded() || !json.is_object() || !json.contains("reprise_tuning") ||
      !json["reprise_tuning"].is_number_integer() || !json.contains("graphs") ||
      !json["graphs"].is_array()) {
    fail_file(path, "save_tuning() did not write it");
  }
  const auto version = json["reprise_tuning"].get<std::int64_t>();
  if (version != kVersion)
    fail_file(path,
              concat("its version is ", version, ", and this program reads version ", kVersion));
  return json;
}

bool is_for(const Json& graph, const TuningKey& key) {
  return graph.is_object() && graph.value("device", "") == key.device &&
         graph.value("plan", "") == hash_text(key.plan_hash);
}

}  // namespace

std::optional<LoweringConfig> read_tuning(const std::filesystem::path& path, const TuningKey& key) {
  const Json json = read(path);
  if (json.is_null()) return std::nullopt;
  try {
    for (const Json& graph : json["graphs"]) {
      if (is_for(graph, key)) return choice_of(graph.at("lowering"));
    }
  } catch (const std::exception& error) {
    fail_file(path, concat("the entry of plan ", hash_text(key.plan_hash),
                           " is malformed: ", error.what()));
  }
  return std::nullopt;
}

void write_tuning(const std::filesystem::path& path, const TuningKey& key,
                  const LoweringConfig& choice) {
  Json json = read(path);
  if (json.is_null()) json = {{"reprise_tuning", kVersion}, {"graphs", Json::array()}};
  Json& graphs = json["graphs"];
  Json kept = Json::array();
  try {
    for (Json& graph : graphs) {
      if (!is_for(graph, key)) kept.push_back(std::move(graph));
    }
  } catch (const Json::exception& error) {
    fail_file(path, error.what());
  }
  kept.push_back({{"device", key.device},
                  {"plan", hash_text(key.plan_hash)},
                  {"name", name_of(choice)},
                  {"lowering", to_json(choice)}});
  graphs = std::move(kept);
  write_json_file(path, json, "the tuning", Stage::Lowering);
}

}  // namespace reprise::detail
