#include "model/temporary_files.hpp"

#include <cerrno>
#include <cstdlib>
#include <regex>
#include <string>
#include <system_error>

namespace reprise::model {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::string_view name) {
  std::string folder = fs::temp_directory_path() / (std::string(name) + "-XXXXXX");
  if (::mkdtemp(folder.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot create " + folder);
  path_ = fs::absolute(folder).lexically_normal();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!is_kept_) fs::remove_all(path_, ignored);
}

MergedTraceFile::MergedTraceFile(const fs::path& input)
    : path_(folder_.path() /
            std::regex_replace(input.filename().string(), std::regex("[.]rank[0-9]+"), "")) {}

}  // namespace reprise::model
