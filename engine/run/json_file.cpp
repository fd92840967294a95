#include "run/json_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace reprise::detail {

nlohmann::json parse_json(std::istream& file) { return nlohmann::json::parse(file, nullptr, false); }

void write_json_file(const std::filesystem::path& path, const nlohmann::json& json, std::string_view what, Stage stage) {
  std::filesystem::path whole = path;
  whole += ".new";
  errno = 0;
  std::ofstream file(whole, std::ios::binary | std::ios::trunc);
  file << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(whole, path, error);
  if (file && !error) return;
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = stage;
  details.native_call = "write " + path.string();
  details.native_code = error ? error.value() : errno;
  details.native_name = std::strerror(static_cast<int>(details.native_code));
  throw Error(std::move(details), concat(what, " could not be written to ", path.string()));
}

}  // namespace reprise::detail
