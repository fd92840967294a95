#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::label_test {

TEST_CASE_FIXTURE(DeviceFixture,
                  "label: labels are in the plan's text and in its DOT, and change no bytes") {
  const auto x = pool->allocate<unsigned>(64, "weights");
  CommandBuffer cmd = recording({.label = "training step"});
  {
    auto outer = cmd.label("forward", {200, 100, 0});
    auto inner = cmd.label("layer 1");
    cmd.dispatch(kernel(shaders::conf_set), {.grid = 1, .block = 64}, write(x), 3u, 64u);
  }
  CapturedGraph graph = compile(cmd);
  CHECK(graph.label() == "training step");
  CHECK(graph.to_text().find("forward/layer 1") != std::string::npos);
  for (const std::string& text : {graph.to_text(), graph.to_dot()}) {
    for (const char* part : {"training step", "forward", "layer 1", "conf_set", "weights"}) {
      INFO("text: ", text);
      INFO("part: ", std::string(part));
      CHECK(text.find(part) != std::string::npos);
    }
  }
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(64, 3));
}

}  // namespace reprise::test::label_test
