#include <doctest/doctest.h>

#include "panels/widgets/canvas.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise::viewer;
using reprise::test::ImGuiFixture;

namespace {

constexpr CanvasBounds kPlane{-100, 50, 900, 650};

struct CanvasTest {
  explicit CanvasTest(CanvasAxes axes) : canvas(axes) {}
  void draw() {
    context.window([this] { contents(); });
  }
  void contents() {
    changed = canvas.begin("plane", bounds, context.theme);
    canvas.end();
  }
  [[nodiscard]] std::function<void()> drawing() {
    return [this] { contents(); };
  }

  ImGuiFixture context{{800, 600}};
  Canvas canvas;
  CanvasBounds bounds = kPlane;
  bool changed = false;
};

}  // namespace

TEST_CASE("canvas: the first frame shows the whole plane with equal scales") {
  CanvasTest t(CanvasAxes::Both);
  t.draw();
  CHECK(t.changed);
  const CanvasBounds sight = t.canvas.visible_area();
  CHECK(sight.left <= kPlane.left);
  CHECK(sight.top <= kPlane.top);
  CHECK(sight.right >= kPlane.right);
  CHECK(sight.bottom >= kPlane.bottom);
  CHECK(t.canvas.zoom_x() == t.canvas.zoom_y());
  t.draw();
  CHECK_FALSE(t.changed);
}

TEST_CASE("canvas: wheel zoom keeps the point under the cursor fixed") {
  for (const CanvasAxes axes : {CanvasAxes::Both, CanvasAxes::Horizontal}) {
    CanvasTest t(axes);
    t.draw();
    const ImVec2 at{523, 211};
    t.context.move_mouse(at);
    t.draw();
    const double x = t.canvas.x_of(at.x), y = t.canvas.y_of(at.y), zoom = t.canvas.zoom_x();
    for (int i = 0; i < 7; ++i) {
      t.context.wheel(1);
      t.draw();
      CHECK(t.changed);
    }
    CHECK(t.canvas.zoom_x() > 2 * zoom);
    CHECK(t.canvas.x_of(at.x) == doctest::Approx(x));
    CHECK(t.canvas.y_of(at.y) == doctest::Approx(y));
    for (int i = 0; i < 7; ++i) {
      t.context.wheel(-1);
      t.draw();
    }
    CHECK(t.canvas.zoom_x() == doctest::Approx(zoom));
    CHECK(t.canvas.x_of(at.x) == doctest::Approx(x));
  }
}

TEST_CASE("canvas: a right drag pans the plane with the mouse") {
  CanvasTest t(CanvasAxes::Both);
  t.draw();
  const double x = t.canvas.x_of(300), y = t.canvas.y_of(300);
  t.context.drag({300, 300}, {340, 270}, t.drawing(), 1);
  CHECK(t.canvas.x_of(340) == doctest::Approx(x));
  CHECK(t.canvas.y_of(270) == doctest::Approx(y));
}

TEST_CASE("canvas: a middle drag zooms to the dragged area") {
  CanvasTest t(CanvasAxes::Horizontal);
  t.draw();
  const double left = t.canvas.x_of(200), right = t.canvas.x_of(300);
  t.context.drag({200, 100}, {300, 400}, t.drawing(), 2);
  CHECK(t.canvas.visible_area().left == doctest::Approx(left));
  CHECK(t.canvas.visible_area().right == doctest::Approx(right));
}

TEST_CASE("canvas: with one axis the plane is as high as the canvas") {
  CanvasTest t(CanvasAxes::Horizontal);
  t.draw();
  t.context.move_mouse({400, 300});
  t.context.wheel(5);
  t.draw();
  CHECK(t.canvas.to_screen(0, kPlane.top).y == doctest::Approx(t.canvas.min().y));
  CHECK(t.canvas.to_screen(0, kPlane.bottom).y == doctest::Approx(t.canvas.max().y));
}

TEST_CASE("canvas: keys pan only while the mouse is on the canvas, and Home fits the plane") {
  CanvasTest t(CanvasAxes::Both);
  t.draw();
  const CanvasBounds all = t.canvas.visible_area();
  t.context.press('D', t.drawing());
  CHECK(t.canvas.visible_area().left == all.left);
  t.context.move_mouse({400, 300});
  t.draw();
  on_key_event('D', true, false, 0);
  for (int i = 0; i < 5; ++i) t.draw();
  on_key_event('D', false, false, 0);
  CHECK(t.canvas.visible_area().left > all.left);
  t.context.press(268, t.drawing());
  t.draw();
  CHECK(t.canvas.visible_area().left == doctest::Approx(all.left));
}

TEST_CASE("canvas: a resize refits the plane until the user zooms") {
  CanvasTest t(CanvasAxes::Both);
  t.draw();
  t.context.resize({400, 300});
  t.draw();
  CHECK(t.canvas.visible_area().left <= kPlane.left);
  CHECK(t.canvas.visible_area().right >= kPlane.right);
  t.context.move_mouse({200, 150});
  t.context.wheel(4);
  t.draw();
  const double zoom = t.canvas.zoom_x();
  t.context.resize({800, 600});
  t.draw();
  CHECK(t.canvas.zoom_x() == doctest::Approx(zoom));
}

TEST_CASE("canvas: show() adds a margin, and centre() keeps the zoom") {
  CanvasTest t(CanvasAxes::Both);
  t.draw();
  t.canvas.show({0, 100, 200, 250});
  t.draw();
  const CanvasBounds part = t.canvas.visible_area();
  CHECK(part.left < 0);
  CHECK(part.right > 200);
  CHECK(part.top < 100);
  CHECK(part.bottom > 250);
  const double zoom = t.canvas.zoom_x();
  t.canvas.centre(700, 600);
  t.draw();
  CHECK(t.canvas.zoom_x() == doctest::Approx(zoom));
  const CanvasBounds there = t.canvas.visible_area();
  CHECK((there.left + there.right) / 2 == doctest::Approx(700));
  CHECK((there.top + there.bottom) / 2 == doctest::Approx(600));
}

TEST_CASE("canvas: a drag does not count as a click") {
  CanvasTest t(CanvasAxes::Both);
  bool clicked = false, doubled = false;
  const auto watched = [&] {
    t.contents();
    clicked = clicked || t.canvas.is_clicked();
    doubled = doubled || t.canvas.is_double_clicked();
  };
  t.context.drag({100, 100}, {200, 200}, watched);
  CHECK_FALSE(clicked);
  t.context.click({300, 300}, watched);
  CHECK(clicked);
  CHECK_FALSE(doubled);
  t.context.double_click({300, 300}, watched);
  CHECK(doubled);
}

TEST_CASE("canvas: panning keeps the centre of the canvas on the plane") {
  CanvasTest t(CanvasAxes::Both);
  t.draw();
  for (int i = 0; i < 6; ++i) t.context.drag({700, 500}, {10, 10}, t.drawing(), 1);
  const CanvasBounds sight = t.canvas.visible_area();
  CHECK((sight.left + sight.right) / 2 <= kPlane.right + 1e-6);
  CHECK((sight.top + sight.bottom) / 2 <= kPlane.bottom + 1e-6);
}
