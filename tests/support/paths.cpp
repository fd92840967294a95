#include "support/paths.hpp"

#include <stdlib.h>  // mkdtemp
#include <unistd.h>

#include <string>
#include <system_error>

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

struct ScratchFolder {
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "reprise-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw fs::filesystem_error("mkdtemp", name, std::error_code(errno, std::generic_category()));
    }
    path = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (::getpid() == owner) fs::remove_all(path, ignored);  // not in a forked child
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const pid_t owner = ::getpid();
  fs::path path;
};

}  // namespace

fs::path test_file(std::string_view path) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path relocated =
      program.parent_path().parent_path() / "share" / "reprise" / "tests" / path;
  return fs::exists(relocated) ? relocated : fs::path(REPRISE_TEST_FILES) / path;
}

const fs::path& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path;
}

}  // namespace reprise::test
