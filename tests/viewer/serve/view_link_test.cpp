#include "serve/view_link.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace reprise::viewer;
using Json = nlohmann::ordered_json;

TEST_CASE("view link: a link survives as a state") {
  const ViewLink link{
      .trace = "a/b.reprise", .graph = "a & b", .replay = 120, .view = View::Timeline};
  CHECK(link_of(state_of(link)) == link);
  CHECK(state_of(link).dump() ==
        R"({"trace":"a/b.reprise","graph":"a & b","replay":"120","view":"timeline"})");
  CHECK(state_of({}) == Json::object());
}

TEST_CASE("view link: unknown and malformed members are ignored, and other types refused") {
  for (const char* replay : {"", "-1", "1x", "99999999999999999999"})
    CHECK(link_of({{"x", 1}, {"view", "nothing"}, {"replay", replay}}) == ViewLink());
  CHECK_THROWS_AS(link_of({{"replay", 1}}), Json::exception);
  CHECK_THROWS_AS(link_of("graph=step"), Json::exception);
  CHECK_THROWS_AS(link_of(Json()), Json::exception);
}
