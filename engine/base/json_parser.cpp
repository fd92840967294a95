#include "base/json_parser.hpp"

#include <ios>
#include <string>

#include <nlohmann/json.hpp>

namespace reprise::detail {

namespace {

struct TooDeep {};

template <class Json, class Input>
Json parse_bounded(Input& input) {
  using Event = typename Json::parse_event_t;
  const auto check_depth = [](int outer, Event event, const Json&) {
    if (outer >= kMaxJsonDepth && (event == Event::array_start || event == Event::object_start))
      throw TooDeep();
    return true;
  };
  try {
    return Json::parse(input, check_depth, false);
  } catch (const TooDeep&) {
  } catch (const std::ios_base::failure&) {  // not readable: a directory, for example
  }
  return Json(Json::value_t::discarded);
}

}  // namespace

nlohmann::json parse_json(std::istream& file) { return parse_bounded<nlohmann::json>(file); }

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return parse_bounded<nlohmann::ordered_json>(text);
}

}  // namespace reprise::detail
