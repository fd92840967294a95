#include "model/trace_feed.hpp"

#include <exception>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/shown_text.hpp"
#include "model/document_publisher.hpp"
#include "model/file_feed.hpp"
#include "model/live_feed.hpp"
#include "trace/live/tcp_address.hpp"

namespace reprise::model {

namespace {

// An existing path decides by its type. Otherwise a target is a session if it ends in .sock or is a
// "host:port" without a slash.
bool names_session(const std::string& target) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(target, ignored);
  if (std::filesystem::exists(status)) return std::filesystem::is_socket(status);
  if (std::filesystem::path(target).extension() == ".sock") return true;
  return target.find('/') == std::string::npos && trace::parse_tcp_address(target).has_value();
}

// LiveClient treats an address with a slash as a path.
std::string address_of(const std::string& target) {
  std::error_code ignored;
  const bool is_plain_name =
      target.find('/') == std::string::npos && !trace::parse_tcp_address(target);
  const bool is_path = is_plain_name || std::filesystem::is_socket(target, ignored);
  return is_path ? std::filesystem::absolute(target, ignored).string() : target;
}

// Empty unless each part of the target names a session.
std::vector<std::string> session_addresses(const std::string& target) {
  if (names_session(target)) return {address_of(target)};
  std::vector<std::string> addresses;
  std::istringstream parts(target);
  for (std::string part; std::getline(parts, part, ',');) {
    if (!names_session(part)) return {};
    addresses.push_back(address_of(part));
  }
  return addresses;
}

}  // namespace

class TraceFeed::Worker {
 public:
  explicit Worker(TraceFeedDesc desc)
      : target(std::move(desc.target)),
        may_request_profile(desc.may_request_profile),
        publisher(std::move(desc.on_change)) {
    if (std::vector<std::string> addresses = session_addresses(target); !addresses.empty()) {
      live = std::make_unique<LiveFeed>(
          LiveFeedDesc{std::move(addresses), std::move(desc.token), desc.max_sample_bytes},
          publisher);
      thread_ = std::jthread([this](const std::stop_token& stop) { run(*live, stop); });
    } else {
      file_ = std::make_unique<FileFeed>(
          TraceLoaderDesc{.path = target, .max_sample_bytes = desc.max_sample_bytes}, publisher);
      thread_ = std::jthread([this](const std::stop_token& stop) { run(*file_, stop); });
    }
  }

  const std::string target;
  const bool may_request_profile;
  DocumentPublisher publisher;
  std::unique_ptr<LiveFeed> live;  // null: a file

 private:
  template <class Feed>
  void run(Feed& feed, const std::stop_token& stop) noexcept {
    try {
      feed.run(stop);
    } catch (const std::exception& error) {
      publisher.fail(detail::failure_text(error, "reading ", target));
    }
  }

  std::unique_ptr<FileFeed> file_;
  std::jthread thread_;  // declared last: stops before the other members are destroyed
};

TraceFeed::TraceFeed(TraceFeedDesc desc) : worker_(std::make_unique<Worker>(std::move(desc))) {}

TraceFeed::~TraceFeed() = default;

std::shared_ptr<const Document> TraceFeed::document() const {
  return worker_->publisher.document();
}

FeedStatus TraceFeed::status() const {
  FeedStatus status = worker_->publisher.status();
  if (!worker_->may_request_profile) status.allowed.reset();
  return status;
}

const std::string& TraceFeed::target() const noexcept { return worker_->target; }

bool TraceFeed::is_live() const noexcept { return worker_->live != nullptr; }

void TraceFeed::request_profile(trace::LiveProfile profile) {
  if (worker_->live && worker_->may_request_profile) worker_->live->request(profile);
}

void TraceFeed::record_to(const std::filesystem::path& path) {
  if (worker_->live) worker_->live->record_to(path);
}

void TraceFeed::save_to(const std::filesystem::path& path) {
  if (worker_->live) worker_->live->save_to(path);
}

bool TraceFeed::wait_until_ready(double seconds) const {
  return worker_->publisher.wait(
      [is_live = is_live()](const FeedStatus& status, const Document& document) {
        const bool is_under_way =
            status.state == FeedState::Opening || status.state == FeedState::Loading;
        return is_live && status.state == FeedState::Live ? !document.graphs.empty()
                                                          : !is_under_way;
      },
      seconds);
}

}  // namespace reprise::model
