#include "panels/widgets/item_menu.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <imgui.h>

#include "panels/shared/notes.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxItemLength = 48;  // of a name in an item
constexpr float kMaxDrag = 5;               // screen points

class ItemMenu {
 public:
  ItemMenu(PanelContext& context, const model::Selection& item)
      : context_(context), view_(context.view), item_(item) {}

  void draw() {
    std::visit([&](const auto& item) { draw_items(item); }, item_);
    if (context_.is_live || !Notes::can_have_one(item_)) return;
    if (ImGui::MenuItem("Bookmark...")) {
      view_.go_to(item_);
      view_.focus_note = true;
    }
  }

 private:
  // Null if the item does not belong to the shown graph.
  template <class T>
  [[nodiscard]] const model::Graph* graph_of(const T& item) const {
    const model::Graph* const graph = context_.graph();
    return graph != nullptr && graph->key() == item.graph ? graph : nullptr;
  }
  void show_item(const char* text, View in) {
    if (!ImGui::MenuItem(text)) return;
    view_.go_to(item_);
    view_.show(in);
  }
  static void copy_item(const char* text, const std::string& copied) {
    if (ImGui::MenuItem(text)) ImGui::SetClipboardText(copied.c_str());
  }
  // True if the item was chosen.
  static bool filter_item(const char* by, const std::string& name) {
    const std::string text = std::string("Filter by ") + by + " " + shortened(name, kMaxItemLength);
    return ImGui::MenuItem(text.c_str());
  }
  void clear_filter_item() {
    if (!view_.filter.is_empty() && ImGui::MenuItem("Clear filter")) view_.filter = {};
  }
  void select_item(const std::string& text, const model::Selection& target) {
    if (ImGui::MenuItem(shortened(text, kMaxItemLength).c_str())) view_.select(target);
  }

  void draw_items(std::monostate) {}
  void draw_items(const model::SelectedNode& item) {
    const model::Graph* const graph = graph_of(item);
    if (graph == nullptr || item.node >= graph->node_count()) return;
    const trace::Node& node = graph->record().nodes[item.node];
    show_item("Show in Graph", View::Graph);
    show_item("Show in Timeline", View::Timeline);
    show_item("Show in Nodes", View::Nodes);
    ImGui::Separator();
    const std::string& kernel = graph->kernel_name(item.node);
    if (!kernel.empty() && filter_item("kernel", kernel))
      view_.filter.text = model::query_term("kernel", kernel);
    if (node.label != 0 && filter_item("label", graph->label_path(node.label)))
      view_.filter.labels = {node.label};
    if (filter_item("kind", graph->kind_name(item.node))) {
      if (graph->kernel_kind(item.node) == detail::KernelKind::Other) {
        view_.filter.kinds = 1u << static_cast<unsigned>(node.kind);
      } else {
        view_.filter.text = model::query_term("kind", graph->kind_name(item.node));
      }
    }
    clear_filter_item();
    ImGui::Separator();
    copy_item("Copy name", graph->node_name(item.node));
  }
  void draw_items(const model::SelectedReplay& item) {
    ImGui::TextDisabled("replay %s", count_text(item.replay).c_str());
    show_item("Show in Timeline", View::Timeline);
    show_item("Show in Replays", View::Replays);
    copy_item("Copy number", std::to_string(item.replay));
  }
  void draw_items(const model::SelectedBuffer& item) {
    const model::Graph* const graph = graph_of(item);
    if (graph == nullptr || item.buffer >= graph->record().buffers.size()) return;
    const std::string name = graph->buffer_name(item.buffer);
    show_item("Show in Memory", View::Memory);
    if (filter_item("buffer", name)) view_.filter.text = model::query_term("buffer", name);
    clear_filter_item();
    copy_item("Copy name", name);
  }
  void draw_items(const model::SelectedEdge& item) {
    const model::Graph* const graph = graph_of(item);
    if (graph == nullptr || item.edge >= graph->record().edges.size()) return;
    const trace::Edge& edge = graph->record().edges[item.edge];
    const std::string from = graph->node_name(edge.from), to = graph->node_name(edge.to);
    show_item("Show in Graph", View::Graph);
    show_item("Show in Sync", View::Sync);
    ImGui::Separator();
    select_item("Select " + from, model::SelectedNode{item.graph, edge.from});
    ImGui::PushID("to");
    select_item("Select " + to, model::SelectedNode{item.graph, edge.to});
    ImGui::PopID();
    ImGui::Separator();
    copy_item("Copy description", from + " -> " + to + ": " + edge_reason(*graph, item.edge));
  }
  void draw_items(const model::SelectedBarrier& item) {
    const model::Graph* const graph = graph_of(item);
    if (graph == nullptr || item.barrier >= graph->record().barriers.size()) return;
    const trace::Barrier& barrier = graph->record().barriers[item.barrier];
    show_item("Show in Graph", View::Graph);
    show_item("Show in Sync", View::Sync);
    if (const std::string at = source_location_text(*graph, barrier.file, barrier.line);
        !at.empty())
      copy_item("Copy location", at);
  }
  void draw_items(const model::SelectedSpan&) {}

  PanelContext& context_;
  ViewState& view_;
  const model::Selection& item_;
};

// The index of an object in its graph.
int number_of(const model::Selection& item) {
  return std::visit(
      [](const auto& of) {
        if constexpr (requires { of.node; })
          return static_cast<int>(of.node);
        else if constexpr (requires { of.buffer; })
          return static_cast<int>(of.buffer);
        else if constexpr (requires { of.edge; })
          return static_cast<int>(of.edge);
        else if constexpr (requires { of.barrier; })
          return static_cast<int>(of.barrier);
        else
          return 0;
      },
      item);
}

}  // namespace

void draw_item_menu(PanelContext& context, const model::Selection& item) {
  ItemMenu(context, item).draw();
}

void draw_graph_menu(PanelContext& context, model::GraphKey graph) {
  ViewState& view = context.view;
  for (const auto& [text, target] :
       {std::pair{"Show in Graph", View::Graph}, std::pair{"Show in Nodes", View::Nodes},
        std::pair{"Show in Replays", View::Replays}}) {
    if (!ImGui::MenuItem(text)) continue;
    view.show_graph(graph);
    view.show(target);
  }
  ImGui::Separator();
  const auto compare = [&](const char* text, std::optional<model::GraphKey> a,
                           std::optional<model::GraphKey> b) {
    if (!ImGui::MenuItem(text)) return;
    if (a) view.compare_a = a;
    if (b) view.compare_b = b;
    view.show(View::Compare);
  };
  compare("Compare: set A to this graph", graph, std::nullopt);
  compare("Compare: set B to this graph", std::nullopt, graph);
  if (graph != view.graph) compare("Compare with the shown graph", view.graph, graph);
  if (const model::GraphEntry* const entry = context.document->find(graph)) {
    ImGui::Separator();
    if (ImGui::MenuItem("Copy name")) ImGui::SetClipboardText(entry->graph->name().c_str());
  }
}

void draw_context_menu(PanelContext& context, const model::Selection& item) {
  if (std::holds_alternative<std::monostate>(item) || !ImGui::BeginPopupContextItem("menu")) return;
  draw_item_menu(context, item);
  ImGui::EndPopup();
}

void draw_row_menu(PanelContext& context, const model::Selection& item, std::size_t row) {
  const bool has_item = !std::holds_alternative<std::monostate>(item);
  // The menu stays with its object when the order of the rows changes.
  ImGui::PushID(has_item ? number_of(item) : static_cast<int>(row));
  if (ImGui::BeginPopupContextItem(has_item ? "item menu" : "row menu")) {
    draw_item_menu(context, item);
    if (has_item) ImGui::Separator();
    draw_csv_items(context.view, row);
    ImGui::EndPopup();
  }
  ImGui::PopID();
}

bool is_menu_click() {
  return ImGui::IsMouseReleased(ImGuiMouseButton_Right) &&
         ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Right] < kMaxDrag * kMaxDrag;
}

void CanvasMenu::open(model::Selection item) {
  item_ = std::move(item);
  opens_ = true;
}

bool CanvasMenu::begin(PanelContext& context) {
  if (std::exchange(opens_, false)) ImGui::OpenPopup("canvas menu");
  if (!ImGui::BeginPopup("canvas menu")) return false;
  draw_item_menu(context, item_);
  if (!std::holds_alternative<std::monostate>(item_)) ImGui::Separator();
  return true;
}

}  // namespace reprise::viewer
