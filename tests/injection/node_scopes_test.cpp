#include "injection/node_scopes.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "injection/range_name.hpp"

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

TEST_CASE("range name: properties of one call are no part of a label") {
  const std::pair<const char*, const char*> kNames[] = {
      {"XlaModule:#hlo_module=jit_loop,program_id=28455#", "jit_loop"},
      {"XlaModule:#prefix=args[0],hlo_module=jit_stage,program_id=0#", "jit_stage"},
      {"XlaModule:#hlo_module=jit__unnamed_wrapped_function_,program_id=7#",
       "jit__unnamed_wrapped_function_"},
      {"XlaCompile:#module=jit_f,program_id=8#", "jit_f"},
      {"Thunk:#hlo_op=while.5,unique_hlo_op_id=25769803778#", "while.5"},
      {"Thunk:#name=jit(loop)/while/cond/lt,hlo_op=loop_compare_fusion,"
       "unique_hlo_op_id=21474836482#",
       "loop_compare_fusion"},
      {"Thunk:#hlo_op=add.1,tf_op=jit(f)/while/body/add#", "add.1"},
      {"Thunk:#hlo_op=command_buffer_1#", "command_buffer_1"},
      {"aten::addmm, op_id = 21", "aten::addmm"},
      {"aten::addmm, seq = 5, op_id = 21, sizes = [[64], [8, 16]], input_op_ids = [(1,0)]",
       "aten::addmm"},
      {"autograd::engine::evaluate_function: AddmmBackward0, op_id = 4",
       "autograd::engine::evaluate_function: AddmmBackward0"},
      {"ProfilerStep#12", "ProfilerStep"},
      {"Optimizer.step#SGD.step", "SGD.step"},
      {"## Call CompiledFxGraph fzr5w7 ##", "CompiledFxGraph"},
      {"[pl][profile][Strategy]SingleDeviceStrategy.training_step",
       "[Strategy]SingleDeviceStrategy.training_step"},
      {"{'Module': 'model.layers.0.mlp', 'Inputs': [[1, 2]]}", "model.layers.0.mlp"},
      {"step #3", "step #3"},
      {"XlaModule:#", "XlaModule:#"},
      {", seq = 1", ", seq = 1"},
      {"", ""}};
  for (const auto& [name, label] : kNames) CHECK(detail::range_name(name).label == label);
}

TEST_CASE("node scopes: a graph is of the module whose range is open, otherwise of the range") {
  OpenScopes open;
  CHECK(open.creator() == "");
  open.push(0, "train");
  CHECK(open.creator() == "train");
  open.push(1, "XlaModule:#hlo_module=jit_loop,program_id=28455#");
  open.push(1, "Thunk:#hlo_op=while.5,unique_hlo_op_id=25769803778#");
  CHECK(open.creator() == "jit_loop");
  open.pop(1);
  open.pop(1);
  open.push(0, "aten::addmm, op_id = 21");
  CHECK(open.creator() == "aten::addmm");
}

}  // namespace reprise::test
