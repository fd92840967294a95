#include "base/json_file.hpp"

#include <cstring>
#include <ios>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace reprise::detail {

nlohmann::json parse_json(std::istream& file) {
  try {
    return nlohmann::json::parse(file, nullptr, false);
  } catch (const std::ios_base::failure&) {  // not readable: a directory, for example
    return nlohmann::json(nlohmann::json::value_t::discarded);
  }
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
