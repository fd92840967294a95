#include "base/json_file.hpp"

#include <cstring>
#include <ios>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <reprise/error.hpp>

#include "base/text.hpp"

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

void write_json_file(const std::filesystem::path& path, const nlohmann::json& json,
                     std::string_view content, Stage stage, std::vector<FileAccess> sources) {
  try {
    write_file_atomically(path,
                          json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n',
                          {.sources = std::move(sources)});
  } catch (const FileError& error) {
    ErrorDetails details;
    details.code = ErrorCode::NativeFailure;
    details.stage = stage;
    details.native_call = "write " + path.string();
    details.native_code = error.code().value();
    details.native_name = std::strerror(error.code().value());
    throw Error(std::move(details), concat(content, " could not be written to ", path.string()));
  }
}

}  // namespace reprise::detail
