#include "viewer/model/golden_text.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/paths.hpp"

namespace reprise::test {

std::string golden_text(const std::string& name, const std::string& actual) {
  const std::filesystem::path path = test_file("viewer/model/golden/" + name);
  if (std::getenv("REPRISE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << actual;
  std::ifstream in(path);
  CHECK_MESSAGE(in.good(), path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace reprise::test
