#include "model/program_files.hpp"

#include <stdexcept>
#include <system_error>

namespace reprise::model {

namespace fs = std::filesystem;

fs::path this_program() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) throw std::runtime_error("cannot locate the executable: " + error.message());
  return path;
}

std::vector<fs::path> library_candidates(const fs::path& program, std::string_view name) {
  const fs::path root = program.parent_path().parent_path();
  return {root / REPRISE_LIBRARY_FOLDER / "reprise" / name, root / "lib" / "reprise" / name,
          root / "lib64" / "reprise" / name, program.parent_path() / name};
}

}  // namespace reprise::model
