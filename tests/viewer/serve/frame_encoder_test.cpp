#include "serve/frame_encoder.hpp"

#include <doctest/doctest.h>
#include <imgui.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "model/trace_feed.hpp"
#include "panels/workspace/workspace.hpp"
#include "support/paths.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/serve/frame_decoder.hpp"
#include "viewer/window/large_trace.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace reprise::viewer;

namespace {

// Requires that the decoded lists draw what ImGui drew, in the units of the message.
void check_equal(const FrameDecoder& decoder, const ImDrawData& data) {
  CHECK(decoder.width == data.DisplaySize.x);
  std::size_t at = 0;
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    std::vector<const ImDrawCmd*> commands;
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount > 0) commands.push_back(&command);
    }
    if (commands.empty()) continue;
    REQUIRE(at < decoder.lists.size());
    const DecodedList& decoded = decoder.lists[at++];
    REQUIRE(decoded.x.size() == static_cast<std::size_t>(list.VtxBuffer.Size));
    REQUIRE(decoded.indices.size() == static_cast<std::size_t>(list.IdxBuffer.Size));
    REQUIRE(decoded.commands.size() == commands.size());
    int wrong = 0;
    for (int v = 0; v < list.VtxBuffer.Size; ++v) {
      const ImDrawVert& vertex = list.VtxBuffer[v];
      const DecodedVertex got = decoded.vertex(static_cast<std::size_t>(v));
      const bool is_far = std::abs(vertex.pos.x) > 1e5f || std::abs(vertex.pos.y) > 1e5f;
      const bool is_near = is_far || (std::abs(got.x - vertex.pos.x) <= 0.51f / 64 &&
                                      std::abs(got.y - vertex.pos.y) <= 0.51f / 64);
      if (!is_near || std::abs(got.u - vertex.uv.x) > 1.0f / 65535 ||
          std::abs(got.v - vertex.uv.y) > 1.0f / 65535 || got.colour != vertex.col)
        ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(std::memcmp(decoded.indices.data(), list.IdxBuffer.Data,
                      decoded.indices.size() * sizeof(std::uint16_t)) == 0);
    for (std::size_t c = 0; c < commands.size(); ++c) {
      CHECK(decoded.commands[c].count == commands[c]->ElemCount);
      CHECK(decoded.commands[c].vertex_offset == commands[c]->VtxOffset);
      CHECK(decoded.commands[c].index_offset == commands[c]->IdxOffset);
      CHECK(decoded.commands[c].clip[2] == commands[c]->ClipRect.z);
    }
  }
  CHECK(at == decoder.lists.size());
}

// A workspace of a trace of 500 nodes, drawn without a window.
class ViewedTrace : public ImGuiFixture {
 public:
  ViewedTrace() {
    const auto path = scratch_folder() / "served.reprise";
    if (!std::filesystem::exists(path)) write_large_trace(path, {.nodes = 500, .replays = 200});
    feed_ = std::make_shared<model::TraceFeed>(model::TraceFeedDesc{.target = path.string()});
    REQUIRE(feed_->wait_until_ready(60));
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    workspace_ = std::make_unique<Workspace>(feed_, nullptr, background_);
    while (!workspace_->is_settled()) {
      draw();
      background_.wait_until_idle();
    }
    settle();
  }
  ~ViewedTrace() { workspace_.reset(); }

  void draw() {
    frame([&] {
      workspace_->handle_keys();
      workspace_->draw(theme, layout_);
    });
  }
  // Draws until no panel computes anything.
  void settle() {
    for (int i = 0; i < 10; ++i) {
      draw();
      background_.wait_until_idle();
    }
  }
  // Encodes, decodes and compares the last frame. Returns the bytes of the message.
  std::size_t check() {
    const std::string message = encoder_.encode(*ImGui::GetDrawData(), ++number_);
    if (!message.empty()) decoder.decode(message);
    check_equal(decoder, *ImGui::GetDrawData());
    return message.size();
  }
  [[nodiscard]] Workspace& workspace() { return *workspace_; }

  FrameDecoder decoder;

 private:
  Background background_{1};
  std::shared_ptr<model::TraceFeed> feed_;
  WorkspaceLayout layout_;
  std::unique_ptr<Workspace> workspace_;
  FrameEncoder encoder_;
  std::uint32_t number_ = 0;
};

}  // namespace

TEST_CASE("frame encoder: decoded frames of a trace are what was drawn, over every view") {
  ViewedTrace viewed;
  std::mt19937 random(4711);
  const auto place = [&] {
    return ImVec2{static_cast<float>(random() % 1600), static_cast<float>(random() % 900)};
  };
  static_cast<void>(viewed.check());
  for (const ViewDesc& view : kViews) {
    CAPTURE(view.name);
    viewed.workspace().view().show(view.view);
    for (int i = 0; i < 30; ++i) {
      viewed.move_mouse(place());
      if (i % 4 == 1) viewed.wheel(i % 8 == 1 ? 1.0f : -2.0f);
      if (i % 7 == 2) viewed.hold_button(i % 2);
      if (i % 7 == 5) {
        viewed.release_button(0);
        viewed.release_button(1);
      }
      viewed.draw();
      static_cast<void>(viewed.check());
    }
    viewed.release_button(0);
    viewed.release_button(1);
    viewed.press(kEscape, [] {});
  }
}

TEST_CASE("frame encoder: an unchanged frame is no message, and a hover a small one") {
  ViewedTrace viewed;
  viewed.move_mouse({-10, -10});
  viewed.settle();
  const std::size_t whole = viewed.check();
  CHECK(whole > 50'000);
  viewed.draw();
  CHECK(viewed.check() == 0);
  viewed.move_mouse({500, 400});
  viewed.draw();
  const std::size_t hover = viewed.check();
  CHECK(hover < whole / 4);
}

TEST_CASE("frame encoder: a graph that is panned is moved, not sent again") {
  ViewedTrace viewed;
  viewed.workspace().view().show(View::Graph);
  viewed.move_mouse({500, 400});
  viewed.settle();
  const std::size_t whole = viewed.check();
  viewed.hold_button(1);
  viewed.draw();
  static_cast<void>(viewed.check());
  std::size_t most = 0;
  for (int i = 1; i <= 20; ++i) {
    viewed.move_mouse({500 + 3.0f * static_cast<float>(i), 400 + 2.0f * static_cast<float>(i)});
    viewed.draw();
    most = std::max(most, viewed.check());
  }
  MESSAGE("whole frame " << whole << " B, panned at most " << most << " B");
  CHECK(most < whole / 3);
}

TEST_CASE("frame encoder: after a reset the frame refers to nothing") {
  ViewedTrace viewed;
  FrameEncoder encoder;
  REQUIRE_FALSE(encoder.encode(*ImGui::GetDrawData(), 1).empty());
  CHECK(encoder.encode(*ImGui::GetDrawData(), 2).empty());
  encoder.reset();
  FrameDecoder decoder;
  decoder.decode(encoder.encode(*ImGui::GetDrawData(), 3));
  CHECK(decoder.kept + decoder.patched == 0);
  check_equal(decoder, *ImGui::GetDrawData());
}

TEST_CASE("frame encoder: coordinates that are no numbers, or far away, are bounded") {
  ImGuiFixture fixture;
  fixture.window([] {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddLine({NAN, 10}, {100, INFINITY}, 0xffffffff);
    draw.AddRectFilled({-1e30f, -1e30f}, {1e30f, 1e30f}, 0xffffffff);
  });
  FrameEncoder encoder;
  FrameDecoder decoder;
  decoder.decode(encoder.encode(*ImGui::GetDrawData(), 1));
  fixture.window([] {
    ImGui::GetWindowDrawList()->AddRectFilled({1e30f, 1e30f}, {-1e30f, -1e30f}, 0xffffffff);
  });
  decoder.decode(encoder.encode(*ImGui::GetDrawData(), 2));
  for (const DecodedList& list : decoder.lists) {
    for (const std::int32_t x : list.x) CHECK(std::abs(static_cast<std::int64_t>(x)) <= 1 << 29);
  }
}
