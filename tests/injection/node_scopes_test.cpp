#include "injection/node_scopes.hpp"

#include <doctest/doctest.h>

namespace reprise::test {

using detail::NodeOrigin;
using detail::NodeScopes;
using detail::OpenScopes;
using detail::ScopePath;

TEST_CASE("node scopes: ranges nest per domain, and closing an unopened range has no effect") {
  OpenScopes open;
  CHECK(open.path() == nullptr);
  open.push(0, "model");
  open.push(5, "library");
  open.push(0, "layer");
  CHECK(*open.path() == ScopePath{"model", "library", "layer"});
  open.pop(5);
  CHECK(*open.path() == ScopePath{"model", "layer"});
  open.pop(5);
  open.pop(0);
  open.pop(0);
  CHECK(open.path() == nullptr);
}

TEST_CASE("node scopes: a copied node has its original's scope, and a reused address does not") {
  NodeScopes scopes;
  const auto path = std::make_shared<const ScopePath>(ScopePath{"forward"});
  const NodeOrigin forward{path, nullptr};
  scopes.add(1, 10, forward);
  scopes.copy(10, 2, 20);
  CHECK(scopes.find(20).scope == path);
  scopes.remove_graph(1);
  CHECK(scopes.find(10).scope == nullptr);
  CHECK(scopes.find(20).scope == path);
  scopes.add(3, 20, {});
  CHECK(scopes.find(20).scope == nullptr);
  scopes.add(3, 30, forward);
  scopes.remove_node(30);
  CHECK(scopes.find(30).scope == nullptr);
  scopes.remove_graph(3);
}

TEST_CASE("node scopes: destroying a graph removes only the nodes that it still owns") {
  NodeScopes scopes;
  const auto path = std::make_shared<const ScopePath>(ScopePath{"forward"});
  const NodeOrigin forward{path, nullptr};
  scopes.add(1, 10, forward);
  scopes.add(2, 10, forward);  // the address was reused for a node of another graph
  scopes.remove_graph(1);
  CHECK(scopes.find(10).scope == path);
}

}  // namespace reprise::test
