#include "serve/served_client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <imgui_internal.h>
#include <nlohmann/json.hpp>

#include "serve/protocol.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

// Intervals of frames: after input, of data and animations, until tooltips have appeared, and until
// messages have gone.
constexpr milliseconds kInputFrame{16}, kDataFrame{33}, kRestFrame{66}, kLateFrame{500};
constexpr milliseconds kRest{1000}, kLate{6000};
constexpr milliseconds kRefresh{1000};  // of a session's times
constexpr int kSettleFrames = 3;        // layout that depends on the previous frame
constexpr std::size_t kMaxUnacknowledged = 4, kMaxUnacknowledgedBytes = 2u << 20;
constexpr std::size_t kMaxUnsent = 1u << 20;  // bytes, before a further part of a download
constexpr std::size_t kMaxUploads = 64, kMaxName = 200;
constexpr double kMinSide = 64, kMaxSide = 8192, kMinScale = 0.5, kMaxScale = 4;

float number(const Json& message, const char* name, double min, double max) {
  return static_cast<float>(std::clamp(message.at(name).get<double>(), min, max));
}

// Json itself would convert -1 and 1e9.
template <class T>
T integer(const Json& json) {
  const auto* const value = json.get_ptr<const Json::number_unsigned_t*>();
  if (!value || *value > std::numeric_limits<T>::max())
    throw ProtocolError("a message has something else where an integer is needed");
  return static_cast<T>(*value);
}

Shade shade_in(const Json& message) {
  return message.at("dark").get<bool>() ? Shade::Dark : Shade::Light;
}

// By ImGuiMouseCursor.
constexpr const char* kCursors[ImGuiMouseCursor_COUNT] = {
    "default",     "text",        "move",    "ns-resize",  "ew-resize",
    "nesw-resize", "nwse-resize", "pointer", "not-allowed"};

// A name for a file in a folder of our own.
std::string file_name_of(const std::string& given) {
  std::string name = given.substr(given.find_last_of("/\\") + 1).substr(0, kMaxName);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '_');
  return name.empty() || name.front() == '.' ? "upload.reprise" : name;
}

Settings settings_of(const ServeDesc& desc) {
  Settings settings;
  for (auto path = desc.traces.rbegin(); path != desc.traces.rend(); ++path)
    settings.note_opened(*path, 0);
  const model::AllowedPaths allowed(desc.allowed);
  for (const fs::path& folder : allowed.folders())
    settings.layout.source_folders.push_back(folder.string());
  settings.layout.source_folders_are_fixed = true;
  return settings;
}

}  // namespace

ServedClient::ServedClient(const ServeDesc& desc, WebServer& web, FontCache& fonts, FeedPool& feeds,
                           fs::path folder, std::function<void()> wake)
    : desc_(desc),
      web_(web),
      fonts_(fonts),
      folder_(std::move(folder)),
      context_(ImGui::CreateContext(fonts.no_fonts())),
      settings_(settings_of(desc)) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  io.ConfigInputTextCursorBlink = false;  // else a text field draws for ever
  io.ClipboardUserData = this;
  io.GetClipboardTextFn = [](void* client) {
    return static_cast<ServedClient*>(client)->clipboard_.c_str();
  };
  io.SetClipboardTextFn = [](void* client, const char* copied) {
    auto& self = *static_cast<ServedClient*>(client);
    self.clipboard_ = copied;
    self.send({{"type", "copy"}, {"text", self.clipboard_}});
  };
  InputQueue::set_up(io);
  apply(theme_, settings_.shade, 1);
  application_.emplace(
      ApplicationDesc{
          .program = desc.program,
          .wake =
              [is_woken = is_woken_, wake = std::move(wake)] {
                if (!is_woken->exchange(true)) wake();
              },
          .access = {.paths = model::AllowedPaths(desc.allowed),
                     .changes =
                         desc.read_only ? Access::Changes::Forbidden : Access::Changes::Allowed},
          .open_feed = [&feeds](model::TraceFeedDesc feed) { return feeds.open(std::move(feed)); },
          .folder = [this] { return new_folder(); },
          .deliver = [this](const fs::path& file) { deliver(file); }},
      settings_);
  if (!desc.other.target.empty()) {
    application_->compare(desc.target, desc.other);
  } else if (!desc.target.target.empty()) {
    application_->open(desc.target);
  }
}

ServedClient::~ServedClient() {
  ImGui::SetCurrentContext(context_);
  application_.reset();
  ImGui::DestroyContext(context_);
  uploads_.clear();
  downloads_.clear();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void ServedClient::send(const Json& message) {
  if (connection_ == 0) return;
  web_.send(connection_, WebServer::Message::Text,
            message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void ServedClient::attach(ConnectionId connection, const Json& hello) {
  set_size(hello);
  connection_ = connection;
  if (frame_ == 0) {
    settings_.shade = shade_in(hello);
    navigate(link_of(hello.at("state")));
  }
  unacknowledged_.clear();
  encoder_.reset();
  states_.clear();
  link_.reset();
  sent_texture_ = 0;
  due_frames_ = kSettleFrames;
  send({{"type", "welcome"}, {"session", session_}});
}

void ServedClient::detach() {
  connection_ = 0;
  lost_at_ = ServeClock::now();
  input_.reset();
  uploads_.clear();
  downloads_.clear();
}

void ServedClient::set_size(const Json& message) {
  width_ = number(message, "width", kMinSide, kMaxSide);
  height_ = number(message, "height", kMinSide, kMaxSide);
  scale_ = number(message, "scale", kMinScale, kMaxScale);
}

void ServedClient::navigate(const ViewLink& link) {
  Workspace* const workspace = application_->workspace();
  const std::string target = link.trace.empty() ? "" : target_of_trace(link.trace, desc_);
  if (!target.empty() && !(workspace && workspace->feed().target() == target)) {
    ImGui::SetCurrentContext(context_);
    application_->perform(OpenTarget{target, {}});
  }
  if (link.view) application_->show(*link.view);
  if (!link.graph.empty() || link.replay) pending_link_ = link;
}

void ServedClient::receive_text(const Json& message) {
  const auto type = message.at("type").get<std::string>();
  if (type == "ack") {
    const auto frame = integer<std::uint32_t>(message.at("frame"));
    while (!unacknowledged_.empty() && unacknowledged_.front().frame <= frame)
      unacknowledged_.pop_front();
    return;
  }
  if (type == "cancel") {
    const auto id = integer<std::uint32_t>(message.at("id"));
    uploads_.erase(id);
    std::erase_if(downloads_, [&](const Download& each) { return each.id == id; });
    return;
  }
  if (type == "upload") return begin_upload(message);
  if (type == "alive") return send({{"type", "alive"}});
  if (type == "input") {
    input_.add(message.at("events"));
  } else if (type == "resize") {
    set_size(message);
  } else if (type == "theme") {
    settings_.shade = shade_in(message);
  } else if (type == "paste") {
    input_.add_paste(message.at("text").get<std::string>());
  } else if (type == "navigate") {
    navigate(link_of(message.at("state")));
  } else if (type == "uploaded") {
    end_uploads(message);
  } else {
    throw ProtocolError("a message has the unknown type \"" + type + "\"");
  }
  input_at_ = ServeClock::now();
  due_frames_ = kSettleFrames;
}

void ServedClient::begin_upload(const Json& message) {
  const auto id = integer<std::uint32_t>(message.at("id"));
  const auto bytes = integer<std::uint64_t>(message.at("bytes"));
  const std::string name = file_name_of(message.at("name").get<std::string>());
  if (uploads_.contains(id) || uploads_.size() >= kMaxUploads)
    throw ProtocolError("an upload repeats an id, or more than 64 are open");
  if (desc_.read_only) return refuse_upload(id, "This server is read-only and takes no files.");
  if (bytes > desc_.max_upload_bytes - uploaded_bytes_)
    return refuse_upload(id,
                         name + " is too large: this server takes " +
                             std::to_string(desc_.max_upload_bytes >> 20) +
                             " MiB of a browser. Copy the file to the server, and open it there.");
  uploaded_bytes_ += bytes;
  try {
    Upload upload{.path = new_folder() / name, .file = {}, .bytes = bytes};
    upload.file.open(upload.path, std::ios::binary | std::ios::trunc);
    if (!upload.file) throw std::runtime_error(std::strerror(errno));
    uploads_.emplace(id, std::move(upload));
  } catch (const std::exception& error) {
    refuse_upload(id, "The server cannot store " + name + ": " + error.what());
  }
}

void ServedClient::refuse_upload(std::uint32_t id, const std::string& reason) {
  uploads_.erase(id);
  send({{"type", "refused"}, {"id", id}, {"text", reason}});
}

void ServedClient::receive_bytes(std::string_view bytes) {
  std::uint32_t id = 0;
  if (bytes.size() < 1 + sizeof id || static_cast<std::uint8_t>(bytes[0]) != kUploadMessage)
    throw ProtocolError("a binary message is no part of an upload");
  std::memcpy(&id, bytes.data() + 1, sizeof id);
  const auto found = uploads_.find(id);
  if (found == uploads_.end()) return;  // refused or cancelled
  bytes.remove_prefix(1 + sizeof id);
  Upload& upload = found->second;
  if (bytes.size() > kChunk || bytes.size() > upload.bytes - upload.received)
    throw ProtocolError("a part of an upload is too long");
  upload.file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  upload.received += bytes.size();
  if (upload.received == upload.bytes) upload.file.close();
  if (!upload.file)
    return refuse_upload(id, "The server cannot store " + upload.path.filename().string() + ": " +
                                 std::strerror(errno));
  send({{"type", "progress"}, {"id", id}, {"received", upload.received}});
}

void ServedClient::end_uploads(const Json& message) {
  std::vector<std::string> paths;
  for (const Json& each : message.at("ids").get_ref<const Json::array_t&>()) {
    const auto found = uploads_.find(integer<std::uint32_t>(each));
    if (found == uploads_.end()) continue;
    if (found->second.received != found->second.bytes)
      throw ProtocolError("an upload ends before its last byte");
    paths.push_back(found->second.path.string());
    uploads_.erase(found);
  }
  ImGui::SetCurrentContext(context_);
  application_->drop(paths);
}

fs::path ServedClient::new_folder() {
  fs::path folder = folder_ / std::to_string(++folders_);
  fs::create_directories(folder);
  return folder;
}

void ServedClient::deliver(const fs::path& path) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(path, error);
  Download download{
      .id = ++last_download_, .path = path, .file = std::ifstream(path, std::ios::binary)};
  if (error || !download.file)
    return application_->show_message("Cannot read " + path.string() + ": " + error.message());
  send({{"type", "download"},
        {"id", download.id},
        {"name", path.filename().string()},
        {"bytes", bytes}});
  downloads_.push_back(std::move(download));
}

void ServedClient::send_files() {
  while (!downloads_.empty() && connection_ != 0 && web_.unsent(connection_) < kMaxUnsent) {
    Download& next = downloads_.front();
    std::string out;
    put(out, kDownloadMessage);
    put(out, next.id);
    const std::size_t head = out.size();
    out.resize(head + kChunk);
    next.file.read(out.data() + head, kChunk);
    out.resize(head + static_cast<std::size_t>(next.file.gcount()));
    if (out.size() > head) web_.send(connection_, WebServer::Message::Binary, std::move(out));
    if (next.file) continue;
    std::error_code ignored;
    fs::remove(next.path, ignored);
    downloads_.pop_front();
  }
}

ServeClock::time_point ServedClient::due() const {
  constexpr auto kNever = ServeClock::time_point::max();
  std::size_t bytes = 0;
  for (const Sent& sent : unacknowledged_) bytes += sent.bytes;
  if (connection_ == 0 || unacknowledged_.size() >= kMaxUnacknowledged ||
      bytes > kMaxUnacknowledgedBytes)
    return kNever;
  const bool is_input_new = ServeClock::now() - input_at_ < kRest;
  if (!input_.empty() || input_.is_held() || (due_frames_ > 0 && is_input_new))
    return drawn_at_ + kInputFrame;
  if (due_frames_ > 0 || *is_woken_ || application_->is_busy()) return drawn_at_ + kDataFrame;
  if (drawn_at_ - input_at_ < kRest) return drawn_at_ + kRestFrame;
  if (drawn_at_ - input_at_ < kLate) return drawn_at_ + kLateFrame;
  return application_->changes_with_time() ? drawn_at_ + kRefresh : kNever;
}

void ServedClient::apply_size() {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {width_, height_};
  io.DisplayFramebufferScale = {scale_, scale_};
  if (!font_set_ || font_set_->pixels != scale_) font_set_ = fonts_.use(theme_, scale_);
  if (theme_.shade != settings_.shade) apply(theme_, settings_.shade, 1);
  if (sent_texture_ == font_set_->texture) return;
  sent_texture_ = font_set_->texture;
  web_.send(connection_, WebServer::Message::Binary, font_set_->message());
}

const std::string& ServedClient::trace_of(const Workspace& workspace) {
  const std::string& target = workspace.feed().target();
  if (named_target_ != target) trace_ = trace_of_target(named_target_ = target, desc_);
  return trace_;
}

void ServedClient::follow_pending_link() {
  Workspace* const workspace = application_->workspace();
  if (!pending_link_ || !workspace) return;
  const bool is_of_another =
      !pending_link_->trace.empty() && pending_link_->trace != trace_of(*workspace);
  const std::string missing = is_of_another ? "" : follow_link(*pending_link_, *workspace);
  if (!missing.empty() && !workspace->is_settled()) return;  // it may come
  pending_link_.reset();
  if (!missing.empty()) application_->show_message(missing);
}

void ServedClient::draw() {
  const auto now = ServeClock::now();
  const float seconds = std::chrono::duration<float>(now - drawn_at_).count();
  drawn_at_ = now;
  if (is_woken_->exchange(false)) due_frames_ = kSettleFrames;
  due_frames_ = std::max(due_frames_ - 1, 0);
  ImGui::SetCurrentContext(context_);
  swap_keys(keys_);  // the viewer's keys are those of the client meanwhile
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = std::clamp(seconds, 1e-4f, 10.0f);
  apply_size();
  input_.apply(io, [this](std::string pasted) { clipboard_ = std::move(pasted); });
  ImGui::NewFrame();
  follow_pending_link();
  application_->draw(theme_);
  if (is_pressed(Key::Picture))
    send({{"type", "picture"}, {"name", application_->picture_path().filename().string()}});
  clear_key_presses();
  swap_keys(keys_);
  ImGui::Render();
  if (std::string frame = encoder_.encode(*ImGui::GetDrawData(), frame_ + 1); !frame.empty()) {
    unacknowledged_.push_back({++frame_, frame.size()});
    web_.send(connection_, WebServer::Message::Binary, std::move(frame));
  }
  send_state();
  send_files();
}

void ServedClient::send_state() {
  const ImGuiMouseCursor cursor = ImGui::GetMouseCursor();
  const bool is_typing = ImGui::GetIO().WantTextInput;
#if IMGUI_VERSION_NUM >= 18700
  const ImVec2 at = context_->PlatformImeData.InputPos;
#else
  const ImVec2 at = context_->PlatformImePos;
#endif
  send_changed(
      {{"type", "cursor"}, {"shape", cursor == ImGuiMouseCursor_None ? "none" : kCursors[cursor]}});
  send_changed({{"type", "title"}, {"text", application_->title()}});
  send_changed({{"type", "keyboard"},
                {"wanted", is_typing},
                {"x", is_typing && at.x < kMaxSide ? at.x : 0},
                {"y", is_typing && at.y < kMaxSide ? at.y : 0},
                {"height", font_size(theme_.text)}});
  send_link();
}

void ServedClient::send_changed(const Json& message) {
  Json& last = states_[message.at("type").get<std::string>()];
  if (last == message) return;
  last = message;
  send(message);
}

void ServedClient::send_link() {
  Workspace* const workspace = application_->workspace();
  if (pending_link_ || (workspace && workspace->feed().document()->graphs.empty())) return;
  ViewLink link = workspace ? link_of(*workspace, trace_of(*workspace)) : ViewLink();
  if (link_ == link) return;
  // Stepping through replays would fill the history.
  const bool replaces = !link_ || (link_->trace == link.trace && link_->graph == link.graph &&
                                   link_->view == link.view);
  link_ = std::move(link);
  send({{"type", "state"}, {"state", state_of(*link_)}, {"replace", replaces}});
}

}  // namespace reprise::viewer
