// digits: trains a network of three dense layers on handwritten digits by replaying one recorded
// training step.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "reference.hpp"
#include "support/data.hpp"
#include "support/program.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"
#include "support/timing.hpp"
#include "trainer.hpp"

namespace {

using namespace digits;

constexpr std::uint32_t kCheckedSteps =
    20;  // steps after which the weights are compared with the reference
// Largest allowed difference of a weight. A step changes weights by about 0.01; rounding to single
// precision contributes about 2e-7.
constexpr double kTolerance = 5e-6;
constexpr double kRequiredAccuracy = 0.96;  // of the held-out rows

double largest_difference(const Weights<float>& weights, const Weights<double>& expected) {
  double largest = 0;
  for (std::size_t l = 0; l < kDepth; ++l) {
    for (std::size_t i = 0; i < weights[l].size(); ++i) {
      const double difference = std::abs(weights[l][i] - expected[l][i]);
      // A NaN differs from every weight.
      largest = difference <= largest ? largest : std::isnan(difference) ? HUGE_VAL : difference;
    }
  }
  return largest;
}

// FNV-1a over the bits of all weights: equal hashes mean equal weights.
std::uint64_t fingerprint(const Weights<float>& weights) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const auto& matrix : weights) {
    for (const float weight : matrix) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &weight, sizeof bits);
      for (int byte = 0; byte < 4; ++byte) {
        hash = (hash ^ ((bits >> (8 * byte)) & 0xff)) * 0x100000001b3U;
      }
    }
  }
  return hash;
}

// Trains the first steps on the device and compares the weights with plain C++.
bool check_first_steps(Trainer& trainer, const DigitSet& training, const TrainingSchedule& schedule,
                       std::uint32_t steps) {
  Reference reference(training, schedule);
  for (std::uint32_t s = 0; s < steps; ++s) {
    reference.step();
  }
  trainer.train(steps);
  const double difference = largest_difference(trainer.read_back(), reference.weights());
  const bool good = difference <= kTolerance;
  std::printf(
      "weights after %u steps differ from the double-precision reference by at most %.1e (allowed: "
      "%.0e)%s\n",
      kCheckedSteps, difference, kTolerance, good ? "" : ": WRONG");
  return good;
}

bool train(const samples::Program& program, const samples::Timing& timing,
           const reprise::LaunchedRank& rank, std::uint32_t seed, std::uint32_t epochs) {
  const DigitSplit split = read_digits(samples::bundled("digits.csv"));
  const reprise::Instance instance(
      {.application = "digits", .cuda_graphs = reprise::CudaGraphs::Exclusive});
  const reprise::Device device = program.open_device(instance, rank.local_rank);
  const auto world = reprise::Communicator::from_environment(device);
  const std::uint32_t per_epoch = steps_per_epoch(split.training.rows());
  const TrainingSchedule schedule = {.seed = seed, .total_steps = epochs * per_epoch};
  Trainer trainer(device, split, schedule, world);

  std::printf("%u training rows, %u held out\n", split.training.rows(), split.held_out.rows());
  std::printf("one step: %s\n", samples::describe(trainer.step().report()).c_str());
  if (rank.rank == 0) {
    const auto dot = program.output("digits.dot");
    trainer.step().export_dot(dot);
    std::printf("wrote %s\n", dot.c_str());
  }
  const std::uint32_t checked = std::min(kCheckedSteps, schedule.total_steps);
  if (!check_first_steps(trainer, split.training, schedule, checked)) {
    program.complain("the device's weights differ from the reference");
    return false;
  }

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::uint64_t before = trainer.step().num_replays();
  samples::Progress progress(epochs);
  Evaluation result;
  double replays_per_second = 0;
  for (std::uint32_t epoch = (checked + per_epoch - 1) / per_epoch, done = checked; epoch <= epochs;
       ++epoch) {
    trainer.train(epoch * per_epoch - done);
    done = epoch * per_epoch;
    result = trainer.evaluate();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    replays_per_second =
        static_cast<double>(trainer.step().num_replays() - before) / std::max(seconds, 1e-9);
    char line[160];
    std::snprintf(line, sizeof line,
                  "epoch %4u/%u   loss %.4f   held-out %5.2f %%   %7.0f replays/s", epoch, epochs,
                  result.mean_loss, 100.0 * result.correct / split.held_out.rows(),
                  replays_per_second);
    progress.update(epoch, line);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  progress.finish();

  const double accuracy = static_cast<double>(result.correct) / split.held_out.rows();
  const std::uint64_t weights = fingerprint(trainer.read_back());
  std::printf(
      "%u replays in %.1f s; held-out accuracy %.2f %% (%u of %u); weights %016" PRIx64 "\n",
      result.steps, seconds, 100.0 * accuracy, result.correct, split.held_out.rows(), weights);
  std::fflush(stdout);  // before another rank ends
  if (weights != trainer.of_first_rank(weights)) {
    program.complain("the weights differ from those of the first rank");
    return false;
  }
  if (result.steps != schedule.total_steps) {
    program.complain("the device counted " + std::to_string(result.steps) + " steps, not " +
                     std::to_string(schedule.total_steps));
    return false;
  }
  if (accuracy < kRequiredAccuracy) {
    program.complain("the held-out accuracy is below 96 %");
    return false;
  }
  if (timing.wanted()) {
    // Trainings whose learning rate hardly falls, so that they take any number of steps.
    for (const std::uint32_t steps : {std::uint32_t{1}, per_epoch}) {
      Trainer endless(device, split,
                      {.seed = seed, .total_steps = std::numeric_limits<std::uint32_t>::max()},
                      world, steps);
      timing.measure("step", steps == 1 ? "one graph" : "an epoch in one graph", steps,
                     [&](std::uint32_t launches) {
                       endless.train(launches);
                       endless.wait();
                     });
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  samples::Program program(
      "digits", "Trains a classifier of handwritten digits by replaying one recorded step.");
  std::uint32_t epochs = 200;
  std::uint32_t seed = 1;
  program.options.add_option("--epochs", epochs, "passes over the training rows")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  program.options
      .add_option("--seed", seed, "seed of the initial weights, the row order and the image shifts")
      ->capture_default_str();
  samples::Ranks ranks(program);
  samples::Timing timing(program);
  return program.run(argc, argv, [&] {
    ranks.start(argc, argv);
    return train(program, timing, ranks.launched(), seed, epochs);
  });
}
