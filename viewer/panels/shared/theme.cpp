#include "panels/shared/theme.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace reprise::viewer {

namespace {

constexpr ImU32 rgb(std::uint32_t hex) {
  return IM_COL32((hex >> 16) & 0xff, (hex >> 8) & 0xff, hex & 0xff, 255);
}

ImU32 mix(ImU32 a, ImU32 b, float part) {
  const ImVec4 from = ImGui::ColorConvertU32ToFloat4(a), to = ImGui::ColorConvertU32ToFloat4(b);
  return ImGui::ColorConvertFloat4ToU32({from.x + (to.x - from.x) * part,
                                         from.y + (to.y - from.y) * part,
                                         from.z + (to.z - from.z) * part, 1});
}

// Relative luminance as in WCAG: 0 black, 1 white.
double luminance(ImU32 colour) {
  const auto linear = [](ImU32 byte) {
    const double c = static_cast<double>(byte & 0xff) / 255;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour >> IM_COL32_R_SHIFT) + 0.7152 * linear(colour >> IM_COL32_G_SHIFT) +
         0.0722 * linear(colour >> IM_COL32_B_SHIFT);
}

void set_dark(Theme& theme) {
  theme.background = rgb(0x0b0d11);
  theme.panel = rgb(0x13161c);
  theme.raised = rgb(0x1c2129);
  theme.hovered = rgb(0x272e39);
  theme.line = rgb(0x2a313c);
  theme.ink = rgb(0xeaeef4);
  theme.ink_soft = rgb(0xa7b1bf);
  theme.ink_faint = rgb(0x7b8696);
  theme.accent = rgb(0x5aa9ff);
  theme.accent_soft = rgb(0x1d3a5c);
  theme.on_accent = rgb(0x06121f);
  theme.good = rgb(0x45c08f);
  theme.warning = rgb(0xf0ad45);
  theme.error = rgb(0xf4727d);
  theme.node = rgb(0x333c4a);
  theme.node_border = rgb(0x56637a);
  theme.edge = rgb(0x66738a);
  theme.critical = rgb(0xff7a4d);
  theme.gap_predecessor = rgb(0x4b6a94);
  theme.gap_false = rgb(0xd9822b);
  theme.gap_bubble = rgb(0xb565a7);
}

void set_light(Theme& theme) {
  theme.background = rgb(0xe3e7ed);
  theme.panel = rgb(0xfafbfd);
  theme.raised = rgb(0xffffff);
  theme.hovered = rgb(0xe4ebf5);
  theme.line = rgb(0xd2d9e2);
  theme.ink = rgb(0x12171f);
  theme.ink_soft = rgb(0x465263);
  theme.ink_faint = rgb(0x667385);
  theme.accent = rgb(0x1763cf);
  theme.accent_soft = rgb(0xcfe1fa);
  theme.on_accent = rgb(0xffffff);
  theme.good = rgb(0x13794f);
  theme.warning = rgb(0x9a5b00);
  theme.error = rgb(0xc22a3a);
  theme.node = rgb(0xd9e0ea);
  theme.node_border = rgb(0x8b98aa);
  theme.edge = rgb(0x7f8c9e);
  theme.critical = rgb(0xd1400f);
  theme.gap_predecessor = rgb(0x8fb0d8);
  theme.gap_false = rgb(0xe08a33);
  theme.gap_bubble = rgb(0xc079b4);
}

void set_colours(ImGuiStyle& style, const Theme& theme) {
  const auto set = [&](ImGuiCol which, ImU32 colour, float alpha = 1) {
    style.Colors[which] = ImGui::ColorConvertU32ToFloat4(with_alpha(colour, alpha));
  };
  for (ImVec4& colour : style.Colors) colour = ImGui::ColorConvertU32ToFloat4(theme.raised);
  set(ImGuiCol_Text, theme.ink);
  set(ImGuiCol_TextDisabled, theme.ink_faint);
  set(ImGuiCol_WindowBg, theme.panel);
  set(ImGuiCol_ChildBg, theme.panel, 0);
  // Differs from `field` below, so that input fields on popups stay visible.
  set(ImGuiCol_PopupBg,
      theme.shade == Shade::Dark ? mix(theme.panel, theme.raised, 0.3f) : theme.raised);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_BorderShadow, theme.line, 0);
  const bool dark = theme.shade == Shade::Dark;
  const ImU32 field =
      dark ? mix(theme.raised, theme.hovered, 0.6f) : mix(theme.panel, theme.line, 0.55f);
  set(ImGuiCol_FrameBg, field);
  set(ImGuiCol_FrameBgHovered, theme.hovered);
  set(ImGuiCol_FrameBgActive, mix(theme.hovered, theme.accent_soft, 0.5f));
  set(ImGuiCol_TitleBg, theme.background);
  set(ImGuiCol_TitleBgActive, theme.background);
  set(ImGuiCol_TitleBgCollapsed, theme.background);
  set(ImGuiCol_MenuBarBg, theme.background);
  set(ImGuiCol_ScrollbarBg, theme.panel, 0);
  set(ImGuiCol_ScrollbarGrab, mix(theme.panel, theme.ink_faint, 0.45f));
  set(ImGuiCol_ScrollbarGrabHovered, theme.ink_faint);
  set(ImGuiCol_ScrollbarGrabActive, theme.accent);
  set(ImGuiCol_CheckMark, theme.accent);
  set(ImGuiCol_SliderGrab, theme.accent);
  set(ImGuiCol_SliderGrabActive, theme.accent);
  set(ImGuiCol_Button, field);
  set(ImGuiCol_ButtonHovered, theme.hovered);
  set(ImGuiCol_ButtonActive, theme.accent_soft);
  set(ImGuiCol_Header, theme.accent_soft);
  set(ImGuiCol_HeaderHovered, theme.hovered);
  set(ImGuiCol_HeaderActive, theme.accent_soft);
  set(ImGuiCol_Separator, theme.line);
  set(ImGuiCol_SeparatorHovered, theme.accent);
  set(ImGuiCol_SeparatorActive, theme.accent);
  set(ImGuiCol_ResizeGrip, theme.line);
  set(ImGuiCol_ResizeGripHovered, theme.accent);
  set(ImGuiCol_ResizeGripActive, theme.accent);
  set(ImGuiCol_Tab, theme.background, 0);
  set(ImGuiCol_TabHovered, theme.hovered);
  set(ImGuiCol_TabActive, theme.panel);
  set(ImGuiCol_TabUnfocused, theme.background, 0);
  set(ImGuiCol_TabUnfocusedActive, theme.panel);
  set(ImGuiCol_PlotLines, theme.accent);
  set(ImGuiCol_PlotLinesHovered, theme.ink);
  set(ImGuiCol_PlotHistogram, theme.accent);
  set(ImGuiCol_PlotHistogramHovered, theme.ink);
  set(ImGuiCol_TableHeaderBg, dark ? theme.raised : mix(theme.panel, theme.line, 0.5f));
  set(ImGuiCol_TableBorderStrong, theme.line);
  set(ImGuiCol_TableBorderLight, theme.line, 0.6f);
  set(ImGuiCol_TableRowBg, theme.panel, 0);
  set(ImGuiCol_TableRowBgAlt, theme.ink, 0.025f);
  set(ImGuiCol_TextSelectedBg, theme.accent, 0.35f);
  set(ImGuiCol_DragDropTarget, theme.accent);
  set(ImGuiCol_NavHighlight, theme.accent);
  set(ImGuiCol_NavWindowingHighlight, theme.accent);
  set(ImGuiCol_NavWindowingDimBg, theme.background, 0.6f);
  set(ImGuiCol_ModalWindowDimBg, theme.background, 0.6f);
}

void set_distances(ImGuiStyle& style, const Theme& theme) {
  const float s = theme.scale;
  style = ImGuiStyle();
  style.WindowPadding = {theme.space, theme.space};
  style.WindowRounding = 0;
  style.WindowBorderSize = 0;
  style.WindowMinSize = {1, 1};
  style.ChildRounding = 0;
  style.ChildBorderSize = 0;
  style.PopupRounding = theme.radius;
  style.PopupBorderSize = 1;
  style.FramePadding = {theme.space, 4 * s};
  style.FrameRounding = theme.radius;
  style.FrameBorderSize = 0;
  style.ItemSpacing = {theme.space, 6 * s};
  style.ItemInnerSpacing = {6 * s, 4 * s};
  style.CellPadding = {6 * s, 3 * s};
  style.IndentSpacing = 16 * s;
  style.ScrollbarSize = 11 * s;
  style.ScrollbarRounding = 6 * s;
  style.GrabMinSize = 12 * s;
  style.GrabRounding = theme.radius;
  style.TabRounding = theme.radius;
  style.TabBorderSize = 0;
  style.DisplaySafeAreaPadding = {0, 0};
  style.MouseCursorScale = s;
}

// The Okabe-Ito palette, ordered so that adjacent colours are distinct. category() adds two greys.
constexpr std::array<std::uint32_t, 8> kOkabeIto = {0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7,
                                                    0xd55e00, 0xf0e442, 0x0072b2, 0x000000};

}  // namespace

float font_size(const ImFont* font) {
  return font->FontSize * font->Scale * ImGui::GetIO().FontGlobalScale;
}

void apply(Theme& theme, Shade shade, float scale) {
  theme.shade = shade;
  theme.scale = scale;
  if (shade == Shade::Dark) {
    set_dark(theme);
  } else {
    set_light(theme);
  }
  theme.space = std::round(8 * scale);
  theme.half_space = std::round(4 * scale);
  theme.radius = std::round(4 * scale);
  theme.row = std::round(24 * scale);
  theme.splitter = std::round(5 * scale);
  ImGuiStyle& style = ImGui::GetStyle();
  set_distances(style, theme);
  set_colours(style, theme);
}

ImU32 heat(float part) {
  // Viridis at evenly spaced positions, without its darkest fifth, which dark surfaces hide.
  static constexpr std::array<std::uint32_t, 16> kViridis = {
      0x3f4788, 0x39558c, 0x32648e, 0x2d718e, 0x287d8e, 0x238a8d, 0x1f968b, 0x20a386,
      0x29af7f, 0x3cbc75, 0x56c667, 0x74d055, 0x94d840, 0xb8de29, 0xdce318, 0xfde725};
  if (!(part > 0)) return rgb(kViridis.front());  // NaN too
  if (part >= 1) return rgb(kViridis.back());
  const float at = part * static_cast<float>(kViridis.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  return mix(rgb(kViridis[below]), rgb(kViridis[below + 1]), at - static_cast<float>(below));
}

ImU32 category(const Theme& theme, std::uint32_t number) {
  const std::uint32_t index = number % 10;
  const bool dark = theme.shade == Shade::Dark;
  if (index == 7) return dark ? rgb(0xe8e8e8) : rgb(kOkabeIto[7]);  // black only on light surfaces
  if (index == 8) return rgb(0x999999);
  if (index == 9) return dark ? rgb(0x666e7a) : rgb(0xc4cad2);
  return rgb(kOkabeIto[index]);
}

ImU32 distinct_colour(const Theme& theme, std::uint32_t number) {
  const ImVec4 hue = ImGui::ColorConvertU32ToFloat4(category(theme, number % 7));
  const std::uint32_t shade = number / 7 % 3;  // plain, lighter, darker
  const float keep = shade == 0 ? 1 : 0.6f, light = shade == 1 ? 0.4f : 0;
  return ImGui::ColorConvertFloat4ToU32(
      {hue.x * keep + light, hue.y * keep + light, hue.z * keep + light, 1});
}

ImU32 kind_colour(const Theme& theme, trace::NodeKind kind) {
  switch (kind) {
    case trace::NodeKind::Dispatch: return category(theme, 0);
    case trace::NodeKind::Copy: return category(theme, 1);
    case trace::NodeKind::Fill: return category(theme, 5);
    case trace::NodeKind::Update: return distinct_colour(theme, 18);
    case trace::NodeKind::Host: return distinct_colour(theme, 16);
    case trace::NodeKind::Join: return category(theme, 8);
    case trace::NodeKind::Entry: return category(theme, 9);
    case trace::NodeKind::Exit: return category(theme, 9);
    case trace::NodeKind::Child: return distinct_colour(theme, 17);
    case trace::NodeKind::Conditional: return category(theme, 4);
    case trace::NodeKind::Other: return category(theme, 7);
  }
  return theme.node;
}

ImU32 kind_colour(const Theme& theme, detail::KernelKind kind) {
  switch (kind) {
    case detail::KernelKind::Gemm: return category(theme, 6);
    case detail::KernelKind::Convolution: return distinct_colour(theme, 10);
    case detail::KernelKind::Attention: return category(theme, 3);
    case detail::KernelKind::Collective: return distinct_colour(theme, 11);
    case detail::KernelKind::Elementwise: return category(theme, 2);
    case detail::KernelKind::Reduction: return distinct_colour(theme, 9);
    case detail::KernelKind::SortScan: return distinct_colour(theme, 15);
    case detail::KernelKind::Copy: return kind_colour(theme, trace::NodeKind::Copy);
    case detail::KernelKind::Fill: return kind_colour(theme, trace::NodeKind::Fill);
    case detail::KernelKind::Other: break;
  }
  return kind_colour(theme, trace::NodeKind::Dispatch);
}

ImU32 cause_colour(const Theme& theme, trace::EdgeCause cause) {
  const bool dark = theme.shade == Shade::Dark;
  switch (cause) {
    case trace::EdgeCause::Hazard: return dark ? rgb(0x7d8da6) : rgb(0x5d6b80);
    case trace::EdgeCause::Barrier: return dark ? rgb(0xe69f00) : rgb(0xb87d00);
    case trace::EdgeCause::User: return rgb(0x009e73);
    case trace::EdgeCause::Linear: return dark ? rgb(0x56b4e9) : rgb(0x0072b2);
    case trace::EdgeCause::Lane: return rgb(0xcc79a7);
    case trace::EdgeCause::EntryExit: return dark ? rgb(0x4c5666) : rgb(0xb3bbc6);
    case trace::EdgeCause::Captured: return dark ? rgb(0xf0e442) : rgb(0x8f8500);
  }
  return theme.edge;
}

ImU32 ink_on(ImU32 colour) {
  // Selects the higher contrast: (1.05 / (l + 0.05)) or ((l + 0.05) / 0.05).
  return luminance(colour) > 0.179 ? rgb(0x0b0d11) : rgb(0xffffff);
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const auto byte = static_cast<ImU32>(std::lround(std::clamp(alpha, 0.0f, 1.0f) * 255));
  return (colour & ~IM_COL32_A_MASK) | (byte << IM_COL32_A_SHIFT);
}

}  // namespace reprise::viewer
