#include <doctest/doctest.h>

#include <reprise/error.hpp>
#include <reprise/message.hpp>
#include <set>
#include <string>

#include "base/text.hpp"

using namespace reprise;

namespace {

constexpr ErrorCode kAll[] = {
#define REPRISE_X(name, meaning) ErrorCode::name,
    REPRISE_ERROR_CODES(REPRISE_X)
#undef REPRISE_X
};

}  // namespace

TEST_CASE("error: every code has a unique name and description") {
  std::set<std::string_view> names, descriptions;
  for (const ErrorCode code : kAll) {
    names.insert(to_string(code));
    descriptions.insert(describe(code));
  }
  CHECK(names.size() == std::size(kAll));
  CHECK(descriptions.size() == std::size(kAll));
  CHECK(names.count("unknown") == 0);
  CHECK(to_string(ErrorCode::OutOfRange) == "OutOfRange");
}

TEST_CASE("error: every stage has a unique name") {
  std::set<std::string_view> names;
  for (int stage = 0; stage <= static_cast<int>(Stage::Profile); ++stage)
    names.insert(to_string(static_cast<Stage>(stage)));
  CHECK(names.size() == static_cast<std::size_t>(Stage::Profile) + 1);
  CHECK(names.count("unknown") == 0);
}

TEST_CASE("error: what() contains the text and every field that is set") {
  ErrorDetails details;
  details.code = ErrorCode::OutOfMemory;
  details.stage = Stage::Instantiate;
  details.command = 3;
  details.label = "forward/layer 1";
  details.message_id = "some-rule";
  details.native_call = "cudaMalloc(&p, n)";
  details.native_code = 2;
  details.native_name = "cudaErrorMemoryAllocation";
  const Error error(details, "out of memory");
  CHECK(std::string(error.what()) ==
        "out of memory [OutOfMemory, instantiate, command 3, label forward/layer 1, rule "
        "some-rule, "
        "cudaMalloc(&p, n) returned cudaErrorMemoryAllocation (2)]");
  CHECK(error.code() == ErrorCode::OutOfMemory);
  CHECK(error.stage() == Stage::Instantiate);
  CHECK(error.details().command == 3);
  CHECK(error.details().native_code == 2);
}

TEST_CASE("error: what() omits fields that are not set") {
  CHECK(
      std::string(Error({.code = ErrorCode::InvalidState, .stage = Stage::Launch}, "no").what()) ==
      "no [InvalidState, launch]");
}

TEST_CASE("message: every severity has a name") {
  CHECK(to_string(Severity::Info) == "info");
  CHECK(to_string(Severity::Warning) == "warning");
  CHECK(to_string(Severity::Error) == "error");
}

TEST_CASE("text: concat joins strings, characters and numbers") {
  CHECK(detail::concat("a", 'b', std::string("c"), 12u, -3, std::uint64_t{18446744073709551615u}) ==
        "abc12-318446744073709551615");
  CHECK(detail::concat().empty());
}
