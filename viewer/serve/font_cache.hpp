// FontCache: the fonts of the viewer as textures for browsers, one for each scale, shared by the
// clients that use it. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <imgui.h>

#include "application/fonts.hpp"
#include "panels/shared/theme.hpp"

namespace reprise::viewer {

struct FontSet {
  ImFontAtlas atlas;
  Theme fonts;  // its other members are not used
  float pixels = 1;
  std::uint32_t texture = 0;

  // The texture as a message (see protocol.hpp).
  [[nodiscard]] std::string message();
};

class FontCache {
 public:
  // Prints which fonts are missing.
  FontCache();
  // Sets the fonts of the current context and of `theme`. They are valid while the result exists.
  [[nodiscard]] std::shared_ptr<FontSet> use(Theme& theme, float pixels);
  // For a context that has no fonts yet.
  [[nodiscard]] ImFontAtlas* no_fonts() noexcept { return &none_; }

 private:
  FontFiles files_;
  ImFontAtlas none_;
  std::map<float, std::weak_ptr<FontSet>> sets_;
  std::shared_ptr<FontSet> latest_;  // for the next client
  std::uint32_t last_texture_ = 0;
};

}  // namespace reprise::viewer
