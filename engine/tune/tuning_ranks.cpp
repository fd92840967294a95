#include "tune/tuning_ranks.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <exception>
#include <sstream>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// The first character of a message of attempt().
constexpr char kSucceeded = '+', kExpected = '-', kFailed = '!';

constexpr const char *kYes = "yes", *kNo = "no";
const char* said(bool yes) { return yes ? kYes : kNo; }

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TuningRanks::TuningRanks(LaunchedCollectives collectives, std::string graph)
    : collectives_(std::move(collectives)), graph_(std::move(graph)) {
  if (collectives_.ranks.size() > 1) {
    fail(ErrorCode::Unsupported, Stage::Launch, graph_,
         concat("tune: the collectives of graph ", graph_, " belong to ", collectives_.ranks.size(),
                " jobs, whose ranks cannot decide together; use communicators of one job"));
  }
}

std::vector<RankAgreement::Message> TuningRanks::exchange(std::string own) const {
  if (has_collectives())
    return collectives_.ranks.front()->exchange(collectives_.hash, std::move(own));
  return {{0, std::move(own)}};
}

bool TuningRanks::first(bool own) const { return exchange(said(own)).front().text == kYes; }

double TuningRanks::largest(double own) const {
  if (!has_collectives()) return own;
  double largest = 0;
  for (const auto& [rank, text] : exchange(std::to_string(std::bit_cast<std::uint64_t>(own))))
    largest = std::max(largest, std::bit_cast<double>(number_of(text)));
  return largest;
}

bool TuningRanks::all(bool own) const {
  const auto all = exchange(said(own));
  return std::all_of(all.begin(), all.end(), [](const auto& one) { return one.text == kYes; });
}

std::vector<std::string> TuningRanks::common(const std::vector<std::string>& own) const {
  if (!has_collectives()) return own;
  std::string joined;
  for (const std::string& one : own) joined += one + '\n';
  const auto all = exchange(std::move(joined));
  std::vector<std::string> common = lines_of(all.front().text);
  for (const auto& [rank, text] : all) {
    const std::vector<std::string> theirs = lines_of(text);
    std::erase_if(common, [&](const std::string& one) {
      return std::find(theirs.begin(), theirs.end(), one) == theirs.end();
    });
  }
  return common;
}

void TuningRanks::require_equal(const std::string& own) const {
  const auto all = exchange(own);
  for (const auto& [rank, text] : all) {
    if (text == all.front().text) continue;
    fail(ErrorCode::RankMismatch, Stage::Launch, graph_,
         concat("tune of graph ", graph_, ": rank ", all.front().rank, " passes ", all.front().text,
                "; rank ", rank, " passes ", text));
  }
}

std::string TuningRanks::attempt(const std::function<void()>& make,
                                 bool (*is_expected)(const Error&)) const {
  std::string own(1, kSucceeded);
  std::exception_ptr thrown;
  try {
    make();
  } catch (const Error& error) {
    own = concat(is_expected(error) ? kExpected : kFailed, error.what());
    if (own.front() == kFailed) thrown = std::current_exception();
  } catch (const std::exception& error) {
    own = concat(kFailed, error.what());
    thrown = std::current_exception();
  }
  const auto all = exchange(std::move(own));
  if (thrown) std::rethrow_exception(thrown);
  std::string reason;
  for (const auto& [rank, text] : all) {
    if (text.front() == kFailed) {
      fail(ErrorCode::RankLost, Stage::Launch, graph_,
           concat("tune of graph ", graph_, ": rank ", rank, " failed: ", text.substr(1)));
    }
    if (text.front() == kExpected && reason.empty())
      reason = all.size() == 1 ? text.substr(1) : concat("rank ", rank, ": ", text.substr(1));
  }
  return reason;
}

}  // namespace reprise::detail
