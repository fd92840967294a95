#include "application/fonts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;

constexpr float kText = 15, kSmall = 12.5f, kHeading = 19, kTitle = 32, kMono = 14;  // points

// Latin, Greek, general punctuation, super- and subscripts, arrows, mathematical operators, box
// drawing and geometric shapes.
constexpr std::array<ImWchar, 15> kRanges = {0x0020, 0x024F, 0x0370, 0x03FF, 0x2010,
                                             0x205E, 0x2070, 0x209C, 0x2190, 0x21FF,
                                             0x2200, 0x22FF, 0x2500, 0x25FF, 0};

std::vector<fs::path> font_folders() {
  std::vector<fs::path> out;
  const char* home = ::secure_getenv("HOME");
  if (const char* data = ::secure_getenv("XDG_DATA_HOME"); data && *data) {
    out.push_back(fs::path(data) / "fonts");
  } else if (home) {
    out.push_back(fs::path(home) / ".local/share/fonts");
  }
  if (home) out.push_back(fs::path(home) / ".fonts");
  const char* folders = ::secure_getenv("XDG_DATA_DIRS");
  std::istringstream list(folders && *folders ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) out.push_back(fs::path(folder) / "fonts");
  }
  out.emplace_back("/usr/local/share/fonts");
  out.emplace_back("/usr/share/fonts");
  return out;
}

// All *.ttf and *.otf files by name; the first directory that contains a file wins.
struct Installed {
  std::vector<fs::path> files;

  Installed() {
    for (const fs::path& folder : font_folders()) {
      std::error_code error;
      fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                          error);
      for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
        const std::string extension = at->path().extension().string();
        if (extension == ".ttf" || extension == ".otf" || extension == ".TTF")
          files.push_back(at->path());
      }
    }
  }

  template <std::size_t n>
  [[nodiscard]] fs::path first_of(const std::array<const char*, n>& names) const {
    for (const char* name : names) {
      const auto found = std::find_if(files.begin(), files.end(), [&](const fs::path& file) {
        return file.filename() == name;
      });
      if (found != files.end()) return *found;
    }
    return {};
  }
};

constexpr std::array<ImWchar, 3> kTitleRanges = {0x0020, 0x007E, 0};

ImFont* add(const fs::path& file, const fs::path& symbols, float pixels,
            const ImWchar* ranges = kRanges.data()) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImFontConfig config;
  config.OversampleH = 2;
  config.OversampleV = 1;
  config.PixelSnapH = true;
  pixels = std::max(6.0f, std::round(pixels));
  ImFont* font =
      file.empty() ? nullptr : atlas.AddFontFromFileTTF(file.c_str(), pixels, &config, ranges);
  if (!font) {
    ImFontConfig plain;
    plain.SizePixels = pixels;
    return atlas.AddFontDefault(&plain);
  }
  if (!symbols.empty() && symbols != file) {
    config.MergeMode = true;  // adds missing glyphs such as arrows and shapes
    atlas.AddFontFromFileTTF(symbols.c_str(), pixels, &config, ranges);
  }
  return font;
}

}  // namespace

FontFiles find_fonts() {
  const Installed installed;
  FontFiles out;
  out.text = installed.first_of(std::array{"Roboto-Regular.ttf", "Inter-Regular.ttf",
                                           "Inter-Regular.otf", "DejaVuSans.ttf",
                                           "LiberationSans-Regular.ttf", "NotoSans-Regular.ttf"});
  out.heading = installed.first_of(
      std::array{"Roboto-Medium.ttf", "Inter-Medium.ttf", "Inter-Medium.otf", "DejaVuSans.ttf",
                 "LiberationSans-Regular.ttf", "NotoSans-Regular.ttf"});
  out.mono =
      installed.first_of(std::array{"JetBrainsMono-Regular.ttf", "DejaVuSansMono.ttf",
                                    "LiberationMono-Regular.ttf", "NotoSansMono-Regular.ttf"});
  if (out.text.empty())
    out.messages.emplace_back(
        "no proportional font was found; apt-get install fonts-roboto-unhinted");
  if (out.mono.empty())
    out.messages.emplace_back("no monospaced font was found; apt-get install fonts-jetbrains-mono");
  return out;
}

void load_fonts(Theme& theme, const FontFiles& files, float pixels, float points) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  theme.text = add(files.text, files.mono, kText * pixels);  // the first font is ImGui's default
  theme.small = add(files.text, files.mono, kSmall * pixels);
  theme.heading =
      add(files.heading.empty() ? files.text : files.heading, files.mono, kHeading * pixels);
  // It is the largest, and draws the name of the program alone.
  theme.title = add(files.heading.empty() ? files.text : files.heading, {}, kTitle * pixels,
                    kTitleRanges.data());
  theme.mono = add(files.mono, files.text, kMono * pixels);
  io.FontDefault = theme.text;
  io.FontGlobalScale = points / pixels;
}

}  // namespace reprise::viewer
