#include "model/document.hpp"

#include <algorithm>

#include "trace/record_names.hpp"

namespace reprise::model {

namespace {

// A damaged trace can have any index.
std::uint32_t known_session(const Document& document, std::uint32_t session) {
  return session < document.sessions->size() ? session : 0;
}

}  // namespace

const GraphEntry* Document::find(GraphKey key) const {
  const auto found = graphs.find(key);
  return found == graphs.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> Document::users_of(std::uint32_t pool, trace::PoolRole role,
                                              Uses uses) const {
  std::vector<std::uint32_t> users;
  for (auto at = pool_uses->lower_bound({pool, role, 0}); at != pool_uses->end(); ++at) {
    const trace::PoolUse& use = at->second;
    if (use.pool != pool || use.role != role) break;
    if ((use.to == 0) == (uses == Uses::Current)) users.push_back(use.graph);
  }
  return users;
}

bool Document::has_ranks() const {
  return sessions->size() > 1 &&
         std::all_of(sessions->begin(), sessions->end(),
                     [](const trace::Session& session) { return session.rank != trace::kNone; });
}

std::string Document::process_name() const {
  if (sessions->empty()) return {};
  const trace::Session& session = sessions->front();
  if (!has_ranks()) return trace::process_name(session);
  return session.application + (session.application.empty() ? "" : ", ") +
         std::to_string(sessions->size()) + " ranks";
}

std::uint32_t Document::session_of(GraphKey graph) const {
  const GraphEntry* entry = find(graph);
  return entry == nullptr ? 0 : session_of_device(entry->graph->record().device);
}

std::uint32_t Document::session_of_device(std::uint32_t device) const {
  const auto found = devices->find(device);
  return found == devices->end() ? 0 : known_session(*this, found->second.session);
}

std::uint32_t Document::session_of_queue(std::uint32_t queue) const {
  const auto found = queues->find(queue);
  return found == queues->end() ? 0 : session_of_device(found->second.device);
}

std::string Document::queue_name(std::uint32_t queue) const {
  const auto found = queues->find(queue);
  return found == queues->end() || found->second.label.empty() ? "queue " + std::to_string(queue)
                                                               : found->second.label;
}

std::uint32_t Document::session_of_thread(std::uint32_t thread) const {
  const auto found = thread_names->find(thread);
  return found == thread_names->end() ? 0 : known_session(*this, found->second.session);
}

std::string Document::rank_name(std::uint32_t session) const {
  if (session >= sessions->size() || (*sessions)[session].rank == trace::kNone) return {};
  return "rank " + std::to_string((*sessions)[session].rank);
}

std::string Document::pool_name(std::uint32_t pool) const {
  if (pool == trace::kNone) return {};
  const auto found = pools->find(pool);
  if (found == pools->end()) return trace::pool_name(pool, "");
  const std::string name = trace::pool_name(pool, found->second.label);
  return has_ranks() ? name + ", " + rank_name(session_of_device(found->second.device)) : name;
}

const trace::Replay* Document::find_replay(GraphKey key, std::uint64_t replay) const {
  const GraphEntry* entry = find(key);
  if (entry == nullptr) return nullptr;
  const std::size_t at = entry->replays.lower_bound(
      replay, [](const trace::Replay& r, std::uint64_t n) { return r.replay < n; });
  return at < entry->replays.size() && entry->replays[at].replay == replay ? &entry->replays[at]
                                                                           : nullptr;
}

}  // namespace reprise::model
