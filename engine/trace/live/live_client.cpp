#include "trace/live/live_client.hpp"

#include <utility>

#include "base/background_thread.hpp"
#include "trace/live/client_link.hpp"

namespace reprise::trace {

LiveClient::LiveClient(LiveClientDesc desc) : link_(std::make_unique<Link>(std::move(desc))) {}

LiveClient::~LiveClient() {
  link_->stop();
  if (thread_.joinable()) thread_.join();
}

void LiveClient::start() {
  if (!thread_.joinable())
    thread_ = detail::start_background_thread("reprise-view", [this] { link_->run(); });
}

std::size_t LiveClient::poll() {
  const std::size_t before = link_->chunks();
  link_->poll();
  return link_->chunks() - before;
}

void LiveClient::request(const LiveRequest& request) { link_->request(request); }

LiveStatus LiveClient::status() const { return link_->status(); }

}  // namespace reprise::trace
