#include "serve/font_cache.hpp"

#include <algorithm>
#include <iterator>

#include "base/shown_text.hpp"
#include "serve/protocol.hpp"

namespace reprise::viewer {

namespace {

// Every WebGL2 has the first; who has many pixels per point has the second.
constexpr int kTextureWidth = 2048, kLargeTextureWidth = 4096;

// Glyphs keep their pixels, but are measured in points: panels draw texts of font->FontSize.
void measure_in_points(ImFont& font, float pixels) {
  for (float* each : {&font.FontSize, &font.Ascent, &font.Descent, &font.FallbackAdvanceX})
    *each /= pixels;
  for (float& advance : font.IndexAdvanceX) advance /= pixels;
  for (ImFontGlyph& glyph : font.Glyphs) {
    for (float* each : {&glyph.X0, &glyph.X1, &glyph.Y0, &glyph.Y1, &glyph.AdvanceX})
      *each /= pixels;
  }
}

}  // namespace

std::string FontSet::message() {
  unsigned char* pixel = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsAlpha8(&pixel, &width, &height);
  std::string out;
  put(out, kTextureMessage);
  out.append(3, '\0');
  put(out, texture);
  put(out, static_cast<std::uint32_t>(width));
  put(out, static_cast<std::uint32_t>(height));
  const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  // 16 shades look like 256, and compress to half the size.
  std::transform(pixel, pixel + count, std::back_inserter(out), [](unsigned char alpha) {
    return static_cast<char>((alpha * 15 + 127) / 255 * 17);
  });
  return out;
}

FontCache::FontCache() : files_(find_fonts()) {
  for (const std::string& message : files_.messages) detail::print_message(message);
}

std::shared_ptr<FontSet> FontCache::use(Theme& theme, float pixels) {
  ImGuiIO& io = ImGui::GetIO();
  std::weak_ptr<FontSet>& known = sets_[pixels];
  std::shared_ptr<FontSet> set = known.lock();
  if (!set) {
    set = std::make_shared<FontSet>();
    set->pixels = pixels;
    set->texture = ++last_texture_;
    io.Fonts = &set->atlas;
    load_fonts(set->fonts, files_, pixels, 1);
    set->atlas.TexDesiredWidth = pixels > 2 ? kLargeTextureWidth : kTextureWidth;
    set->atlas.Build();
    for (ImFont* font : set->atlas.Fonts) measure_in_points(*font, pixels);
    set->atlas.SetTexID(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(set->texture)));
    known = set;
    std::erase_if(sets_, [](const auto& each) { return each.second.expired(); });
  }
  io.Fonts = &set->atlas;
  io.FontDefault = set->fonts.text;
  io.FontGlobalScale = 1;
  for (const auto font :
       {&Theme::text, &Theme::small, &Theme::heading, &Theme::title, &Theme::mono})
    theme.*font = set->fonts.*font;
  latest_ = set;
  return set;
}

}  // namespace reprise::viewer
