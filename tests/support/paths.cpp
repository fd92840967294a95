#include "support/paths.hpp"

#include <fstream>
#include <iterator>

#include "support/temporary_folder.hpp"

namespace reprise::test {

namespace fs = std::filesystem;

fs::path test_file(std::string_view path) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path relocated =
      program.parent_path().parent_path() / "share" / "reprise" / "tests" / path;
  return fs::exists(relocated) ? relocated : fs::path(REPRISE_TEST_FILES) / path;
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const fs::path& scratch_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

}  // namespace reprise::test
