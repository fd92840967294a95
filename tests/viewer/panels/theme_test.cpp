#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;

namespace {

double channel(ImU32 colour, int shift) {
  const double c = static_cast<double>((colour >> shift) & 0xff) / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
double luminance(ImU32 colour) {
  return 0.2126 * channel(colour, IM_COL32_R_SHIFT) + 0.7152 * channel(colour, IM_COL32_G_SHIFT) +
         0.0722 * channel(colour, IM_COL32_B_SHIFT);
}
double contrast(ImU32 a, ImU32 b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

}  // namespace

TEST_CASE("theme: the heat map increases in luminance from end to end") {
  double last = -1;
  for (int i = 0; i <= 200; ++i) {
    const ImU32 colour = heat(static_cast<float>(i) / 200);
    CHECK((colour >> IM_COL32_A_SHIFT) == 0xff);
    const double now = luminance(colour);
    CHECK(now >= last - 0.001);  // channels have eight bits
    last = now;
  }
  CHECK(heat(-3) == heat(0));
  CHECK(heat(7) == heat(1));
  CHECK(heat(std::numeric_limits<float>::quiet_NaN()) == heat(0));
  CHECK(luminance(heat(1)) > 10 * luminance(heat(0)));
  test::ImGuiFixture context({100, 100}, Shade::Dark);
  CHECK(contrast(heat(0), context.theme.panel) >= 1.9);
}

TEST_CASE("theme: text has sufficient contrast on every surface in both shades") {
  for (const Shade shade : {Shade::Dark, Shade::Light}) {
    test::ImGuiFixture context({100, 100}, shade);
    const Theme& theme = context.theme;
    for (const ImU32 surface : {theme.background, theme.panel, theme.raised}) {
      CHECK(contrast(theme.ink, surface) >= 12);
      CHECK(contrast(theme.ink_soft, surface) >= 6);
      CHECK(contrast(theme.ink_faint, surface) >= 3.8);
      CHECK(contrast(theme.accent, surface) >= 4.2);
      CHECK(contrast(theme.warning, surface) >= 4.2);
      CHECK(contrast(theme.error, surface) >= 4.2);
      CHECK(contrast(theme.good, surface) >= 4);
    }
    CHECK(contrast(theme.ink, theme.hovered) >= 10);
    CHECK(contrast(theme.ink, theme.accent_soft) >= 7);
    CHECK(contrast(theme.on_accent, theme.accent) >= 4.5);
  }
}

TEST_CASE("theme: ink_on() has sufficient contrast on every heat colour") {
  for (int i = 0; i <= 50; ++i) {
    const ImU32 colour = heat(static_cast<float>(i) / 50);
    CHECK(contrast(ink_on(colour), colour) >= 4.2);
  }
}

TEST_CASE("theme: ten category colours are distinct and repeat after ten") {
  for (const Shade shade : {Shade::Dark, Shade::Light}) {
    test::ImGuiFixture context({100, 100}, shade);
    std::set<ImU32> seen;
    for (std::uint32_t i = 0; i < 10; ++i) {
      seen.insert(category(context.theme, i));
      CHECK(category(context.theme, i) == category(context.theme, i + 10));
    }
    CHECK(seen.size() == 10);
  }
}

TEST_CASE("theme: distances scale with the display scale") {
  test::ImGuiFixture context;
  Theme& theme = context.theme;
  apply(theme, Shade::Dark, 1);
  const float row = theme.row, space = theme.space;
  apply(theme, Shade::Dark, 2);
  CHECK(theme.row == 2 * row);
  CHECK(theme.space == 2 * space);
  CHECK(ImGui::GetStyle().ScrollbarSize == doctest::Approx(22));
}
