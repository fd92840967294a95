// Tests of the environment for child processes.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/program_environment.hpp"
#include "support/environment_variable.hpp"

namespace reprise::test {

TEST_CASE("program environment: variables are replaced, removed, and otherwise unchanged") {
  const EnvironmentVariable kept("REPRISE_TEST_KEPT", "a=b"),
      replaced("REPRISE_TEST_REPLACED", "old"), gone("REPRISE_TEST_GONE", "here"),
      longer("REPRISE_TEST_GONE_NOT", "stays");
  std::vector<std::string> all = model::program_environment(
      {.set = {{"REPRISE_TEST_REPLACED", "new"}, {"REPRISE_TEST_ADDED", ""}},
       .unset = {"REPRISE_TEST_GONE"}});
  const auto count = [&](const std::string& start) {
    return std::count_if(all.begin(), all.end(),
                         [&](const std::string& text) { return text.starts_with(start); });
  };
  CHECK(count("REPRISE_TEST_KEPT=a=b") == 1);
  CHECK(count("REPRISE_TEST_REPLACED=") == 1);
  CHECK(count("REPRISE_TEST_REPLACED=new") == 1);
  CHECK(count("REPRISE_TEST_ADDED=") == 1);
  CHECK(count("REPRISE_TEST_GONE=") == 0);
  CHECK(count("REPRISE_TEST_GONE_NOT=stays") == 1);
  const std::vector<char*> pointers = model::exec_pointers(all);
  REQUIRE(pointers.size() == all.size() + 1);
  CHECK(pointers.back() == nullptr);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(std::string(pointers[i]) == all[i]);
}

}  // namespace reprise::test
