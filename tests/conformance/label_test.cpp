#include <filesystem>
#include <fstream>
#include <sstream>

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

TEST_CASE_FIXTURE(DeviceFixture, "label: export_dot writes to_dot, and an error names the path") {
  CommandBuffer cmd = recording();
  cmd.host([] {});
  CapturedGraph graph = compile(cmd);
  const auto path =
      std::filesystem::temp_directory_path() /
      ("reprise-label-test-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".dot");
  graph.export_dot(path);
  std::ostringstream written;
  written << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  CHECK(written.str() == graph.to_dot());
  check_refused(ErrorCode::NativeFailure, {"/no/such/folder/x.dot"},
                [&] { graph.export_dot("/no/such/folder/x.dot"); });
}

}  // namespace reprise::test::label_test
