#include "serve/view_link.hpp"

#include <doctest/doctest.h>

using namespace reprise::viewer;

TEST_CASE("view link: a link survives being written, whatever the graph is called") {
  for (const char* graph : {"step", "a & b = c", "100 %", "schritt \xc3\xbc", "#token", "%41+"}) {
    const ViewLink link{.graph = graph, .replay = 120, .view = View::Timeline};
    CHECK_MESSAGE(parse_link(link_text(link)) == link, graph);
    CHECK(link_text(link).find_first_of("# ") == std::string::npos);
  }
  CHECK(link_text({.graph = "step", .replay = 120, .view = View::Timeline}) ==
        "graph=step&replay=120&view=timeline");
}

TEST_CASE("view link: unknown and malformed parts are ignored") {
  CHECK(parse_link("") == ViewLink());
  CHECK(
      parse_link("&&=&x&token=abc&view=nothing&replay=-1&replay=1x&replay=99999999999999999999") ==
      ViewLink());
  CHECK(parse_link("graph=%zz%4").graph == "%zz%4");
}
