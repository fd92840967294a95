#include "support/golden_text.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "support/paths.hpp"

namespace reprise::test {

std::string golden_text(std::string_view file, const std::string& actual) {
  const std::filesystem::path path = test_file(file);
  if (const char* const update = std::getenv("REPRISE_UPDATE_GOLDEN");
      update != nullptr && std::string_view(update) == "1")
    std::ofstream(path, std::ios::binary) << actual;
  CHECK_MESSAGE(std::filesystem::exists(path), path.string(),
                " does not exist; REPRISE_UPDATE_GOLDEN=1 makes it");
  return text_of_file(path);
}

}  // namespace reprise::test
