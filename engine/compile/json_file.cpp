#include "compile/json_file.hpp"

#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace reprise::detail {

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
