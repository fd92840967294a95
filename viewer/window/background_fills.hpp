// The large opaque rectangles of a draw list, to be cleared instead of drawn. Software OpenGL
// shades every pixel of a triangle with a texture and a blend, which takes most of a frame for the
// backgrounds of the regions alone; a clear fills memory. Threads: drawing thread only.
#pragma once

#include <span>
#include <vector>

#include <imgui.h>

namespace reprise::viewer {

struct BackgroundFill {
  ImVec2 min{0, 0}, max{0, 0};  // screen points, clipped
  ImU32 colour = 0;             // opaque
};

// Removes the fills from the list and returns them in their order. A rectangle that something
// earlier in the list overlaps stays, so clearing first gives the same picture. `white`: texture
// coordinates of a fill.
[[nodiscard]] std::vector<BackgroundFill> take_background_fills(ImDrawList& list, ImVec2 white);

// The picture of `fills` over a screen of `size` points with a background, as rectangles to clear:
// first the whole screen in the colour of most of it, then the rest, disjoint. A clear of the whole
// screen is much faster than one of a part.
[[nodiscard]] std::vector<BackgroundFill> flatten_fills(std::span<const BackgroundFill> fills,
                                                        ImVec2 size, ImU32 background);

}  // namespace reprise::viewer
