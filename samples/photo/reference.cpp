#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace photo {
namespace {

// One channel or the luminance; coordinates are clamped to the border.
struct Plane {
  Size size;
  std::vector<double> values;
  explicit Plane(Size s) : size(s), values(s.pixels()) {}
  [[nodiscard]] double at(std::int64_t x, std::int64_t y) const {
    x = std::clamp<std::int64_t>(x, 0, std::int64_t{size.width} - 1);
    y = std::clamp<std::int64_t>(y, 0, std::int64_t{size.height} - 1);
    return values[static_cast<std::size_t>(y * size.width + x)];
  }
  void set(const std::function<double(std::int64_t, std::int64_t)>& value) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        values[static_cast<std::size_t>(y * size.width + x)] = value(x, y);
      }
    }
  }
};
using Colours = std::array<Plane, kChannels>;

Plane halved(const Plane& fine) {
  constexpr double binomial[5] = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};
  Plane coarse(fine.size.halved());
  coarse.set([&](std::int64_t x, std::int64_t y) {
    double sum = 0;
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 5; ++i) {
        sum += binomial[i] * binomial[j] * fine.at(2 * x + i - 2, 2 * y + j - 2);
      }
    }
    return sum;
  });
  return coarse;
}

// The binomial filter over `coarse` with zeros between its pixels, times four: only the taps on a
// pixel count.
Plane expanded(const Plane& coarse, Size size) {
  constexpr double binomial[5] = {1.0 / 8, 4.0 / 8, 6.0 / 8, 4.0 / 8, 1.0 / 8};
  Plane fine(size);
  fine.set([&](std::int64_t x, std::int64_t y) {
    double sum = 0;
    for (int j = -2; j <= 2; ++j) {
      for (int i = -2; i <= 2; ++i) {
        if ((x + i) % 2 == 0 && (y + j) % 2 == 0) {
          sum += binomial[i + 2] * binomial[j + 2] * coarse.at((x + i) / 2, (y + j) / 2);
        }
      }
    }
    return sum;
  });
  return fine;
}

Plane combined(const Plane& a, const Plane& b, double sign) {
  Plane result(a.size);
  std::transform(a.values.begin(), a.values.end(), b.values.begin(), result.values.begin(),
                 [sign](double left, double right) { return left + sign * right; });
  return result;
}

std::vector<double> interleaved(const Colours& colours, double gain, double offset) {
  std::vector<double> rgb;
  rgb.reserve(colours[0].values.size() * kChannels);
  for (std::size_t i = 0; i < colours[0].values.size(); ++i) {
    for (const Plane& plane : colours) {
      rgb.push_back(gain * plane.values[i] + offset);
    }
  }
  return rgb;
}

std::vector<double> edges(const Colours& colours) {
  Plane light(colours[0].size);
  light.set([&](std::int64_t x, std::int64_t y) {
    return 0.299 * colours[0].at(x, y) + 0.587 * colours[1].at(x, y) + 0.114 * colours[2].at(x, y);
  });
  Plane result(light.size);
  result.set([&](std::int64_t x, std::int64_t y) {
    double across = 0;
    double down = 0;
    for (int i = -1; i <= 1; ++i) {
      const int weight = i == 0 ? 2 : 1;
      across += weight * (light.at(x + 1, y + i) - light.at(x - 1, y + i));
      down += weight * (light.at(x + i, y + 1) - light.at(x + i, y - 1));
    }
    return std::hypot(across, down) / 2;
  });
  return result.values;
}

Colours split(const Image& image) {
  Colours colours = {Plane(image.size), Plane(image.size), Plane(image.size)};
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    colours[i % kChannels].values[i / kChannels] = image.rgb[i];
  }
  return colours;
}

template <class Function>
Colours each(const Function& function) {
  return {function(0), function(1), function(2)};
}

class Comparer {
 public:
  void pictures(const char* name, const std::vector<std::vector<std::uint8_t>>& got,
                const std::vector<std::vector<double>>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      picture(std::string(name) + " " + std::to_string(i), got.at(i), expected[i]);
    }
  }

  template <class Got, class Expected>
  void picture(const std::string& name, const Got& got, const Expected& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double exact = std::clamp(static_cast<double>(expected[i]), 0.0, 255.0);
      check(name, i, std::abs(got.at(i) - exact) <= 0.5 + kTieTolerance, got.at(i), exact);
    }
  }

  void exact(const std::string& name, const auto& got, const auto& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      check(name, i, got.at(i) == expected[i], got.at(i), expected[i]);
    }
  }

  [[nodiscard]] const Comparison& result() const { return result_; }

 private:
  void check(const std::string& name, std::size_t index, bool good, double got, double expected) {
    ++result_.values;
    if (!good && result_.first_wrong.empty()) {
      result_.first_wrong = name + ": value " + std::to_string(index) + " is " +
                            std::to_string(got) + ", the reference has " + std::to_string(expected);
    }
  }
  Comparison result_;
};

}  // namespace

Results<double> reference_results(const Image& image) {
  const std::vector<Size> sizes = level_sizes(image.size);
  const std::size_t last = sizes.size() - 1;
  Results<double> results;
  std::vector<Colours> gaussian = {split(image)};
  std::vector<Colours> laplacian;
  for (std::size_t l = 0; l < last; ++l) {
    gaussian.push_back(each([&](int c) { return halved(gaussian[l][c]); }));
    laplacian.push_back(each([&](int c) {
      return combined(gaussian[l][c], expanded(gaussian[l + 1][c], sizes[l]), -1.0);
    }));
    results.gaussian.push_back(interleaved(gaussian[l + 1], 1.0, 0.0));
    results.laplacian.push_back(interleaved(laplacian[l], 1.0, 128.0));
  }
  for (const Colours& level : gaussian) {
    results.edges.push_back(edges(level));
  }
  Colours sum = gaussian[last];
  for (std::size_t l = last; l-- > 0;) {
    sum = each([&](int c) { return combined(laplacian[l][c], expanded(sum[c], sizes[l]), 1.0); });
  }
  results.reconstruction = interleaved(sum, 1.0, 0.0);
  for (auto& channel : results.histogram) {
    channel.assign(kBins, 0);
  }
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    ++results.histogram[i % kChannels][image.rgb[i]];
  }
  return results;
}

Comparison compare(const Results<std::uint8_t>& results, const Results<double>& expected,
                   const Image& image) {
  Comparer comparer;
  comparer.pictures("Gaussian", results.gaussian, expected.gaussian);
  comparer.pictures("Laplacian", results.laplacian, expected.laplacian);
  comparer.pictures("edges", results.edges, expected.edges);
  comparer.picture("reconstruction", results.reconstruction, expected.reconstruction);
  comparer.exact("reconstruction", results.reconstruction, image.rgb);
  for (std::size_t c = 0; c < kChannels; ++c) {
    comparer.exact("histogram " + std::to_string(c), results.histogram[c], expected.histogram[c]);
  }
  return comparer.result();
}

}  // namespace photo
