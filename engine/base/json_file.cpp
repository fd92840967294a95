#include "base/json_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace reprise::detail {

void write_json_file(const std::filesystem::path& path, const nlohmann::json& json,
                     std::string_view content, Stage stage) {
  std::filesystem::path temporary = path;
  temporary += ".new";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (file && !error) return;
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = stage;
  details.native_call = "write " + path.string();
  details.native_code = error ? error.value() : errno;
  details.native_name = std::strerror(static_cast<int>(details.native_code));
  throw Error(std::move(details), concat(content, " could not be written to ", path.string()));
}

}  // namespace reprise::detail
