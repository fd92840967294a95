#include "window/background_fills.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace reprise::viewer {

namespace {

constexpr float kMinArea = 64 * 64;  // smaller rectangles are cheap to draw

struct Bounds {
  ImVec2 min{0, 0}, max{0, 0};
};

bool overlap(const Bounds& a, const Bounds& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

// The fill that six indices draw, if they are a rectangle as ImDrawList::PrimRect() adds it.
std::optional<BackgroundFill> fill_of(const ImDrawList& list, const ImDrawCmd& command,
                                      const ImDrawIdx* index, ImVec2 white) {
  if (index[3] != index[0] || index[4] != index[2]) return std::nullopt;
  const ImDrawVert* const vertices = list.VtxBuffer.Data + command.VtxOffset;
  const ImDrawVert &a = vertices[index[0]], &b = vertices[index[1]], &c = vertices[index[2]],
                   &d = vertices[index[5]];
  for (const ImDrawVert* v : {&a, &b, &c, &d}) {
    if (v->col != a.col || v->uv.x != white.x || v->uv.y != white.y) return std::nullopt;
  }
  const bool is_rectangle = a.pos.y == b.pos.y && b.pos.x == c.pos.x && c.pos.y == d.pos.y &&
                            d.pos.x == a.pos.x && a.pos.x < c.pos.x && a.pos.y < c.pos.y;
  if (!is_rectangle || a.col >> IM_COL32_A_SHIFT != 0xff) return std::nullopt;
  const ImVec4& clip = command.ClipRect;
  const BackgroundFill fill{{std::max(a.pos.x, clip.x), std::max(a.pos.y, clip.y)},
                            {std::min(c.pos.x, clip.z), std::min(c.pos.y, clip.w)},
                            a.col};
  const float width = fill.max.x - fill.min.x, height = fill.max.y - fill.min.y;
  return width > 0 && height > 0 && width * height >= kMinArea ? std::optional(fill) : std::nullopt;
}

}  // namespace

std::vector<BackgroundFill> take_background_fills(ImDrawList& list, ImVec2 white) {
  std::vector<BackgroundFill> fills;
  std::vector<Bounds> drawn;  // triangles that stay
  ImVector<ImDrawIdx> kept;
  kept.reserve(list.IdxBuffer.Size);
  for (ImDrawCmd& command : list.CmdBuffer) {
    const ImDrawIdx* const first = list.IdxBuffer.Data + command.IdxOffset;
    const auto start = static_cast<unsigned>(kept.Size);
    for (unsigned i = 0; i + 2 < command.ElemCount;) {
      const auto fill =
          i + 5 < command.ElemCount ? fill_of(list, command, first + i, white) : std::nullopt;
      if (fill && std::none_of(drawn.begin(), drawn.end(), [&](const Bounds& b) {
            return overlap(b, {fill->min, fill->max});
          })) {
        fills.push_back(*fill);
        i += 6;
        continue;
      }
      Bounds bounds;
      for (unsigned v = 0; v < 3; ++v) {
        const ImVec2 at = list.VtxBuffer[static_cast<int>(first[i + v] + command.VtxOffset)].pos;
        bounds.min =
            v == 0 ? at : ImVec2{std::min(bounds.min.x, at.x), std::min(bounds.min.y, at.y)};
        bounds.max =
            v == 0 ? at : ImVec2{std::max(bounds.max.x, at.x), std::max(bounds.max.y, at.y)};
        kept.push_back(first[i + v]);
      }
      drawn.push_back(bounds);
      i += 3;
    }
    command.IdxOffset = start;
    command.ElemCount = static_cast<unsigned>(kept.Size) - start;
  }
  list.IdxBuffer.swap(kept);
  return fills;
}

std::vector<BackgroundFill> flatten_fills(std::span<const BackgroundFill> fills, ImVec2 size,
                                          ImU32 background) {
  std::vector<float> xs{0, size.x}, ys{0, size.y};
  for (const BackgroundFill& fill : fills) {
    for (const float x : {fill.min.x, fill.max.x}) xs.push_back(std::clamp(x, 0.0f, size.x));
    for (const float y : {fill.min.y, fill.max.y}) ys.push_back(std::clamp(y, 0.0f, size.y));
  }
  for (std::vector<float>* edges : {&xs, &ys}) {
    std::sort(edges->begin(), edges->end());
    edges->erase(std::unique(edges->begin(), edges->end()), edges->end());
  }
  // The cells between the edges, with adjacent cells of a row and colour as one.
  std::vector<BackgroundFill> cells;
  std::map<ImU32, float> areas;
  for (std::size_t y = 0; y + 1 < ys.size(); ++y) {
    for (std::size_t x = 0; x + 1 < xs.size(); ++x) {
      BackgroundFill cell{{xs[x], ys[y]}, {xs[x + 1], ys[y + 1]}, background};
      for (const BackgroundFill& fill : fills) {
        if (fill.min.x <= cell.min.x && cell.max.x <= fill.max.x && fill.min.y <= cell.min.y &&
            cell.max.y <= fill.max.y)
          cell.colour = fill.colour;
      }
      areas[cell.colour] += (cell.max.x - cell.min.x) * (cell.max.y - cell.min.y);
      const bool joins = x > 0 && cells.back().colour == cell.colour;
      if (joins) {
        cells.back().max.x = cell.max.x;
      } else {
        cells.push_back(cell);
      }
    }
  }
  const auto most = std::max_element(
      areas.begin(), areas.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const ImU32 whole = most == areas.end() ? background : most->first;
  std::erase_if(cells, [&](const BackgroundFill& cell) { return cell.colour == whole; });
  cells.insert(cells.begin(), {{0, 0}, size, whole});
  return cells;
}

}  // namespace reprise::viewer
