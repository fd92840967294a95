#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <imgui_internal.h>

#include "panels/widgets/table_columns.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::ImGuiFixture;

namespace {

constexpr TableColumn kTestColumns[] = {
    {"name", "Names.", 20, ColumnAlign::Left},
    {"gap", "Times.", 12, ColumnAlign::Right, "ns"},
    {"note", "Texts.", 20, ColumnAlign::Left},
    {"hidden", "Not shown.", 20, ColumnAlign::Left, "", ColumnShow::OnDemand},
};

// A table of 1,000 rows, of which a few are visible.
struct TestTable : ImGuiFixture {
  TestTable() : ImGuiFixture({800, 420}) {
    for (int i = 0; i < 3; ++i) draw();
  }

  void contents() {
    const TableContents contents{
        .name = "test",
        .columns = kTestColumns,
        .rows = 1'000,
        .cell = [&](std::size_t row, std::size_t column) -> TableCell {
          ++cells;
          if (column == 0) return {.text = "row " + std::to_string(row), .prefix = "> "};
          if (column == 1) return time_cell(-1'500.25);
          return {.text = row == 0 ? "=cmd(), \"quoted\"\nsecond line" : "plain"};
        },
        .selected = 7};
    if (!begin_table(theme, view, {"test", kTestColumns})) return;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(contents.rows), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        static_cast<void>(begin_row(theme, i, {}));
        ImGui::PushID(i);
        if (has_row_menus && ImGui::BeginPopupContextItem("menu")) {
          draw_csv_items(view, static_cast<std::size_t>(i));
          ImGui::EndPopup();
        }
        ImGui::PopID();
        draw_cells(theme, contents, static_cast<std::size_t>(i));
      }
    }
    end_table(view, contents);
  }
  void draw() {
    window([&] { contents(); });
  }
  // Opens the menu at a position and clicks an item.
  void choose_at(ImVec2 at, const char* item) {
    click(
        at, [&] { contents(); }, 1);
    choose(item, [&] { contents(); });
  }

  ViewState view;
  bool has_row_menus = false;
  int cells = 0;
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("table: CSV has a header with units, quoted texts, and numbers that stay numbers") {
  const std::vector<std::vector<TableCell>> cells{
      {{.text = "a,b"}, {.text = "-1.5 us", .number = -1'500}, {.text = "-"}},
      {{.text = "say \"x\""}, {.text = "0.333", .number = 1.0 / 3}, {.text = "+1"}},
      {{.text = "two\nlines"}, {}, {.text = "@a"}}};
  const TableContents contents{.name = "t",
                               .columns = kTestColumns,
                               .rows = cells.size(),
                               .cell = [&](std::size_t row, std::size_t column) {
                                 return column < 3 ? cells[row][column] : TableCell{};
                               }};
  CHECK(csv_text(contents, std::vector<std::size_t>{0, 1, 2}) ==
        "name,gap (ns),note\r\n"
        "\"a,b\",-1500,'-\r\n"
        "\"say \"\"x\"\"\",0.3333333333333333,'+1\r\n"
        "\"two\nlines\",,'@a\r\n");
  CHECK(csv_text(contents, std::vector<std::size_t>{2, 0}, 1) ==
        "note,name\r\n'+1,\"say \"\"x\"\"\"\r\n");
  const auto number = [&](double value) {
    const TableContents one{
        .columns = kTestColumns, .rows = 1, .cell = [&](std::size_t, std::size_t) {
          return TableCell{.text = "x", .number = value};
        }};
    return csv_text(one, std::vector<std::size_t>{3}).substr(std::string("hidden\r\n").size());
  };
  CHECK(number(1e15) == "1000000000000000\r\n");
  CHECK(number(0) == "0\r\n");
}

TEST_CASE("table: the export has all rows, and only the visible columns") {
  TestTable table;
  const int drawn = std::exchange(table.cells, 0);
  CHECK(drawn < 3 * 4 * 60);
  table.view.table_export = TableExport{};
  table.draw();
  const std::string text = ImGui::GetClipboardText();
  CHECK(text.rfind(
            "name,gap (ns),note\r\nrow 0,-1500.25,\"'=cmd(), \"\"quoted\"\"\nsecond line\"\r\n",
            0) == 0);
  CHECK(text.ends_with("row 999,-1500.25,plain\r\n"));
  CHECK(lines_of(text) == 1 + 1'000 + 1);
}

TEST_CASE("table: columns are exported in the order in which the user put them") {
  TestTable table;
  table.window([&] {
    table.contents();
    ImGuiTable* const shown = ImGui::GetCurrentContext()->Tables.GetByIndex(0);
    std::swap(shown->Columns[1].DisplayOrder, shown->Columns[2].DisplayOrder);
    shown->DisplayOrderToIndex[1] = 2;
    shown->DisplayOrderToIndex[2] = 1;
  });
  table.view.table_export = TableExport{.row = 5};
  table.draw();
  CHECK(std::string(ImGui::GetClipboardText()) == "name,note,gap (ns)\r\nrow 5,plain,-1500.25\r\n");
}

TEST_CASE("table: a right click on the header or on a row opens a menu with the export") {
  TestTable table;
  // The first items of the menu.
  const auto choose = [&](float y, int item) {
    table.click(
        {100, y}, [&] { table.contents(); }, 1);
    REQUIRE(ImGui::GetCurrentContext()->OpenPopupStack.Size > 0);
    const ImGuiWindow& menu = *ImGui::GetCurrentContext()->OpenPopupStack.back().Window;
    const float line = ImGui::GetFontSize() + ImGui::GetStyle().ItemSpacing.y,
                top = menu.Pos.y + menu.WindowPadding.y;
    ImGui::SetClipboardText("");
    table.click({menu.Pos.x + 40, top + line * (static_cast<float>(item) + 0.4f)},
                [&] { table.contents(); });
  };
  for (const float y : {15.0f, 60.0f}) {
    CAPTURE(y);
    choose(y, 0);
    CHECK(lines_of(ImGui::GetClipboardText()) == 1'002);
    CHECK_FALSE(table.view.save.has_value());
    choose(y, 1);
    REQUIRE(table.view.save.has_value());
    CHECK(table.view.save->name == "test.csv");
    CHECK(lines_of(table.view.save->contents) == 1'002);
    table.view.save.reset();
  }
}

TEST_CASE("table: the menu of a row also copies that row") {
  TestTable table;
  table.has_row_menus = true;
  table.choose_at({100, 60}, "Copy row as CSV");
  const std::string row = ImGui::GetClipboardText();
  CHECK(row.find("\r\nrow ") != std::string::npos);
  CHECK(lines_of(row) == 2);
  table.choose_at({100, 60}, "Copy as CSV");
  CHECK(lines_of(ImGui::GetClipboardText()) == 1'002);
}

TEST_CASE("table: Ctrl+C copies the selected row, and Ctrl+Shift+C copies all rows") {
  TestTable table;
  table.click({100, 60}, [&] { table.contents(); });  // focus
  ImGuiIO& io = ImGui::GetIO();
  const auto press_c = [&] {
    io.KeysDown[io.KeyMap[ImGuiKey_C]] = true;
    table.draw();
    io.KeysDown[io.KeyMap[ImGuiKey_C]] = false;
    table.draw();
  };
  io.KeyCtrl = true;
  press_c();
  CHECK(std::string(ImGui::GetClipboardText()) == "name,gap (ns),note\r\nrow 7,-1500.25,plain\r\n");
  io.KeyShift = true;
  press_c();
  CHECK(lines_of(ImGui::GetClipboardText()) == 1'002);
}
