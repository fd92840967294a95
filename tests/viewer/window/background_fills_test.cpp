#include "window/background_fills.hpp"

#include <doctest/doctest.h>

#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;

namespace {

constexpr ImU32 kRed = IM_COL32(200, 0, 0, 255), kBlue = IM_COL32(0, 0, 200, 255);

// A draw list with a clip rectangle of 800 x 600.
struct FillList {
  FillList() : list(ImGui::GetDrawListSharedData()) {
    context.window([] {});  // the first frame sets up the shared data
    list._ResetForNewFrame();
    list.PushTextureID(ImGui::GetIO().Fonts->TexID);
    list.PushClipRect({0, 0}, {800, 600});
  }
  std::vector<BackgroundFill> take() {
    return take_background_fills(list, ImGui::GetIO().Fonts->TexUvWhitePixel);
  }
  test::ImGuiFixture context{{800, 600}};
  ImDrawList list;
};

}  // namespace

TEST_CASE("background fills: large opaque rectangles are taken in order and clipped") {
  FillList f;
  f.list.AddRectFilled({-50, 0}, {800, 600}, kRed);
  f.list.AddRectFilled({100, 100}, {400, 900}, kBlue);
  const auto fills = f.take();
  REQUIRE(fills.size() == 2);
  CHECK(fills[0].colour == kRed);
  CHECK(fills[0].min.x == 0);
  CHECK(fills[1].colour == kBlue);
  CHECK(fills[1].max.y == 600);
  CHECK(f.list.IdxBuffer.Size == 0);
}

TEST_CASE("background fills: what is small, translucent, rounded or over something else stays") {
  FillList f;
  f.list.AddRectFilled({10, 10}, {20, 20}, kRed);                          // small
  f.list.AddRectFilled({100, 100}, {400, 400}, IM_COL32(0, 0, 200, 128));  // translucent
  f.list.AddRectFilled({500, 0}, {800, 300}, kRed, 8);                     // rounded
  f.list.AddRectFilled({0, 0}, {200, 200}, kBlue);                         // over the first two
  const int indices = f.list.IdxBuffer.Size;
  CHECK(f.take().empty());
  CHECK(f.list.IdxBuffer.Size == indices);
  f.list.AddRectFilled({450, 350}, {800, 600}, kBlue);  // free
  CHECK(f.take().size() == 1);
  CHECK(f.list.IdxBuffer.Size == indices);
  unsigned counted = 0;
  for (const ImDrawCmd& command : f.list.CmdBuffer) {
    CHECK(command.IdxOffset == counted);
    counted += command.ElemCount;
  }
  CHECK(counted == static_cast<unsigned>(indices));
}

TEST_CASE("background fills: flattened fills show the topmost colour everywhere, each pixel once") {
  const ImU32 background = IM_COL32(9, 9, 9, 255);
  const std::vector<BackgroundFill> fills = {{{0, 0}, {800, 600}, kBlue},
                                             {{10, 10}, {700, 590}, kRed},
                                             {{300, 300}, {400, 400}, kBlue},
                                             {{-5, 500}, {100, 900}, background}};
  const std::vector<BackgroundFill> flat = flatten_fills(fills, {800, 600}, background);
  REQUIRE(!flat.empty());
  CHECK(flat[0].colour == kRed);  // most of the screen
  CHECK(flat[0].max.x == 800);
  const auto contains = [](const BackgroundFill& fill, float x, float y) {
    return fill.min.x <= x && x < fill.max.x && fill.min.y <= y && y < fill.max.y;
  };
  for (float y = 2; y < 600; y += 7) {
    for (float x = 2; x < 800; x += 7) {
      ImU32 expected = background, shown = flat[0].colour;
      for (const BackgroundFill& fill : fills)
        expected = contains(fill, x, y) ? fill.colour : expected;
      std::size_t times = 0;
      for (std::size_t i = 1; i < flat.size(); ++i) {
        if (!contains(flat[i], x, y)) continue;
        shown = flat[i].colour;
        ++times;
      }
      CHECK(shown == expected);
      CHECK(times <= 1);
    }
  }
  CHECK(flatten_fills({}, {800, 600}, background).size() == 1);
}
