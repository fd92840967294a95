// ServedClient: one browser: its Dear ImGui context, application, settings, files and input. It
// outlives a lost connection for a while. Threads: drawing thread only; `wake` of its desc is
// called on any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "application/application.hpp"
#include "panels/shared/keys.hpp"
#include "serve/feed_pool.hpp"
#include "serve/font_cache.hpp"
#include "serve/frame_encoder.hpp"
#include "serve/input_queue.hpp"
#include "serve/request_checks.hpp"
#include "serve/serve_desc.hpp"
#include "serve/view_link.hpp"
#include "serve/web_server.hpp"

namespace reprise::viewer {

class ServedClient {
 public:
  // `folder`, for files of this client, is removed with it. `wake` wakes the thread that calls
  // draw().
  ServedClient(const ServeDesc& desc, WebServer& web, FontCache& fonts, FeedPool& feeds,
               std::filesystem::path folder, std::function<void()> wake);
  ServedClient(const ServedClient&) = delete;
  ServedClient& operator=(const ServedClient&) = delete;
  ~ServedClient();

  // Its name: random, known to its page alone.
  [[nodiscard]] const std::string& session() const noexcept { return session_; }
  // 0: the connection is lost.
  [[nodiscard]] ConnectionId connection() const noexcept { return connection_; }
  [[nodiscard]] ServeClock::time_point lost_at() const noexcept { return lost_at_; }
  // With the first message of a connection. Throws ProtocolError or nlohmann::json::exception for a
  // message that the protocol does not allow, as do the next two.
  void attach(ConnectionId connection, const nlohmann::ordered_json& hello);
  void detach();
  void receive_text(const nlohmann::ordered_json& message);
  void receive_bytes(std::string_view bytes);

  // When draw() is due; max(): not before something happens.
  [[nodiscard]] ServeClock::time_point due() const;
  // Draws a frame and sends what changed.
  void draw();
  // Continues downloads.
  void send_files();

 private:
  struct Upload {
    std::filesystem::path path;
    std::ofstream file;
    std::uint64_t bytes = 0, received = 0;
  };
  struct Download {
    std::uint32_t id = 0;
    std::filesystem::path path;
    std::ifstream file;
  };

  void send(const nlohmann::ordered_json& message);
  // Sends what differs from the last message of its type.
  void send_changed(const nlohmann::ordered_json& message);
  void navigate(const ViewLink& link);
  void set_size(const nlohmann::ordered_json& message);
  void apply_size();
  void begin_upload(const nlohmann::ordered_json& message);
  void end_uploads(const nlohmann::ordered_json& message);
  void refuse_upload(std::uint32_t id, const std::string& reason);
  void deliver(const std::filesystem::path& file);
  // Empty, for a file.
  [[nodiscard]] std::filesystem::path new_folder();
  // Its name in links.
  [[nodiscard]] const std::string& trace_of(const Workspace& workspace);
  void follow_pending_link();
  void send_state();
  void send_link();

  const ServeDesc& desc_;
  WebServer& web_;
  FontCache& fonts_;
  const std::string session_ = random_text();
  // Shared with the threads that wake the client.
  std::shared_ptr<std::atomic<bool>> is_woken_ = std::make_shared<std::atomic<bool>>(true);
  ConnectionId connection_ = 0;
  ServeClock::time_point lost_at_ = ServeClock::now();
  const std::filesystem::path folder_;
  std::uint64_t folders_ = 0;  // of new_folder()

  std::shared_ptr<FontSet> font_set_;  // outlives the context
  ImGuiContext* context_;
  Theme theme_;
  Settings settings_;
  KeyState keys_;
  std::string clipboard_;
  InputQueue input_;
  float width_ = 1280, height_ = 720, scale_ = 1;
  std::optional<Application> application_;

  ServeClock::time_point drawn_at_, input_at_;
  int due_frames_ = 0;
  FrameEncoder encoder_;
  std::uint32_t frame_ = 0;
  struct Sent {
    std::uint32_t frame;
    std::size_t bytes;
  };
  std::deque<Sent> unacknowledged_;
  std::map<std::string, nlohmann::ordered_json> states_;  // as sent, by type
  std::string named_target_, trace_;                      // of trace_of()
  std::optional<ViewLink> link_;                          // as sent
  std::optional<ViewLink> pending_link_;                  // until the trace has its graph
  std::uint32_t sent_texture_ = 0;
  std::map<std::uint32_t, Upload> uploads_;
  std::uint64_t uploaded_bytes_ = 0;
  std::deque<Download> downloads_;
  std::uint32_t last_download_ = 0;
};

}  // namespace reprise::viewer
