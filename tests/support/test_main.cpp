// The entry of every doctest program. Runs the test cases that the command line selects. Exit codes: 0, all passed; 77, all
// were skipped (skip.hpp); 1, a test case failed or none was selected, so that a filter that matches nothing does not pass.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "support/skip.hpp"

namespace reprise::test {
namespace {

constexpr int kSkippedExitCode = 77;  // SKIP_RETURN_CODE of the tests

std::atomic<int> tests_started{0};
int tests_skipped = 0;
bool is_skipped = false;  // the test case that runs

struct CountingListener final : doctest::IReporter {
  explicit CountingListener(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {
    ++tests_started;
    is_skipped = false;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override { tests_skipped += is_skipped ? 1 : 0; }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("counting", 1, CountingListener);

}  // namespace

void skip_test_case(std::string_view reason) {
  is_skipped = true;
  MESSAGE("skipped: ", std::string(reason));
}

}  // namespace reprise::test

int main(int argc, char** argv) {
  using namespace reprise::test;
  doctest::Context context(argc, argv);
  const int failed = context.run();
  if (context.shouldExit()) {  // a query such as --list-test-cases
    return failed;
  }
  if (failed == 0 && tests_started == 0) {
    std::fputs("no test was selected\n", stderr);
    return 1;
  }
  if (tests_skipped > 0) {
    std::fprintf(stderr, "%d of %d test cases were skipped\n", tests_skipped, tests_started.load());
  }
  return failed == 0 && tests_skipped == tests_started ? kSkippedExitCode : failed;
}
