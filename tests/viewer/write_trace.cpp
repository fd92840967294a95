// Writes the hand-made trace to FILE, for tests that run the program `reprise`: write_trace FILE
// [slow|renamed|no-samples].
#include <cstdio>
#include <string>

#include "viewer/hand_made_trace.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: write_trace FILE [slow|renamed|no-samples]\n", stderr);
    return 2;
  }
  reprise::test::HandMadeTrace options;
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind == "slow") options.slow_node = 2;
  if (kind == "renamed") options.renamed_node = 2;
  if (kind == "no-samples") options.samples = false;
  reprise::test::write_hand_made_trace(argv[1], options);
}
