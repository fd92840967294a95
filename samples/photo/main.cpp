// photo: decomposes an image into the levels of a pyramid and reconstructs it, as one graph with
// many branches.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "image.hpp"
#include "pyramid.hpp"
#include "reference.hpp"
#include "support/data.hpp"
#include "support/program.hpp"
#include "support/timing.hpp"

namespace {

using namespace photo;

// The three histograms as overlaid curves in their colours: the square roots of the counts, scaled
// to the maximum.
Image draw_histogram(const Results<std::uint8_t>& results) {
  constexpr std::uint32_t kColumn = 3;  // pixels of a bin
  constexpr std::uint32_t kHeight = 256;
  Image chart = {.size = {kBins * kColumn, kHeight}, .rgb = {}};
  chart.rgb.assign(chart.size.pixels() * kChannels, 16);
  std::uint32_t highest = 1;
  for (const auto& channel : results.histogram) {
    highest = std::max(highest, *std::ranges::max_element(channel));
  }
  for (std::uint32_t y = 0; y < kHeight; ++y) {
    for (std::uint32_t x = 0; x < chart.size.width; ++x) {
      for (std::uint32_t c = 0; c < kChannels; ++c) {
        const double height =
            std::sqrt(static_cast<double>(results.histogram[c][x / kColumn]) / highest) * kHeight;
        if (kHeight - y <= height) {
          chart.rgb[(y * chart.size.width + x) * kChannels + c] = 230;
        }
      }
    }
  }
  return chart;
}

void write_pictures(const samples::Program& program, const Results<std::uint8_t>& results,
                    Size size) {
  const std::vector<Size> sizes = level_sizes(size);
  const auto name = [&](const char* kind, std::size_t level) {
    return program.output(std::string("photo-") + kind + "-" + std::to_string(level) + ".png");
  };
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    write_png(name("gaussian", l + 1), sizes[l + 1], kChannels, results.gaussian[l]);
    write_png(name("laplacian", l), sizes[l], kChannels, results.laplacian[l]);
  }
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    write_png(name("edges", l), sizes[l], 1, results.edges[l]);
  }
  const Image chart = draw_histogram(results);
  write_png(program.output("photo-histogram.png"), chart.size, kChannels, chart.rgb);
  write_png(program.output("photo-reconstruction.png"), size, kChannels, results.reconstruction);
  std::printf("wrote %zu pictures: %s\n", 2 * (sizes.size() - 1) + sizes.size() + 2,
              program.output("photo-*.png").c_str());
}

bool process(const samples::Program& program, const samples::Timing& timing,
             const std::string& file) {
  const Image image =
      read_image(file.empty() ? samples::bundled("china.jpg") : std::filesystem::path(file));
  const reprise::Instance instance(
      {.application = "photo", .cuda_graphs = reprise::CudaGraphs::Exclusive});
  const reprise::Device device = program.open_device(instance);
  Pyramid pyramid(device, image.size);

  const reprise::CompileReport& report = pyramid.graph().report();
  const auto mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  std::printf("%u x %u pixels, %zu levels: %s\n", image.size.width, image.size.height,
              level_sizes(image.size).size(), samples::describe(report).c_str());
  std::printf("transient memory: %.2f MiB one by one, %.2f MiB planned, lower bound %.2f MiB\n",
              mebibytes(report.transient_bytes), mebibytes(report.slab_bytes),
              mebibytes(report.slab_lower_bound));

  const Results<std::uint8_t> results = pyramid.run(image);
  write_pictures(program, results, image.size);
  pyramid.graph().export_dot(program.output("photo.dot"));

  const Comparison comparison = compare(results, reference_results(image), image);
  if (!comparison.first_wrong.empty()) {
    program.complain("differs from the reference: " + comparison.first_wrong);
    return false;
  }
  std::printf(
      "all %llu values match the double-precision reference; the reconstruction equals "
      "the input\n",
      static_cast<unsigned long long>(comparison.values));
  timing.measure("picture", "one graph", 1,
                 [&](std::uint32_t launches) { pyramid.repeat(launches); });
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  samples::Program program(
      "photo", "Decomposes an image into a Gaussian and a Laplacian pyramid and reconstructs it.");
  std::string file;
  program.options.add_option("IMAGE", file, "a JPEG or PNG file (default: the bundled photograph)");
  samples::Timing timing(program);
  return program.run(argc, argv, [&] { return process(program, timing, file); });
}
