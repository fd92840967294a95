#include "ptx/ptx_module.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/ptx/ptx_kernels.hpp"

using namespace reprise::detail;
using namespace reprise::test;

TEST_CASE("ptx module: version, target, functions, entries and variables are found") {
  const PtxModule module(ptx_module_text(kPtxKernels));
  CHECK(module.version() == ".version 9.0");
  CHECK(module.target() == ".target sm_90");
  CHECK(module.has_64_bit_addresses());
  CHECK(module.functions().size() == 11);
  for (const PtxFunction& function : module.functions()) {
    CAPTURE(function.name);
    CHECK(function.problem == "");
    CHECK(function.has_body);
  }
  REQUIRE(module.variables().size() == 3);
  CHECK(module.variables()[0].name == "hits");
  CHECK(module.variables()[0].space == PtxVariable::Space::Global);
  CHECK(module.variables()[0].bytes == 16);
  CHECK(module.variables()[1].space == PtxVariable::Space::Const);
  CHECK(module.variables()[2].space == PtxVariable::Space::Shared);
  CHECK(module.variables()[2].is_extern);
  CHECK(module.variables()[2].bytes == 0);
  CHECK(module.find_entry("twice") == nullptr);
  REQUIRE(module.find_function("twice") != nullptr);
  const PtxFunction* large = module.find_entry("large");
  REQUIRE(large != nullptr);
  REQUIRE(large->entry_parameters.size() == 2);
  CHECK(large->entry_parameters[1].bytes == 196);
  CHECK(large->entry_parameters[1].alignment == 4);
  // .ptr .align is the alignment of what the parameter refers to.
  CHECK(module.find_entry("coordinates")->entry_parameters.at(0).alignment == 8);
}

TEST_CASE("ptx module: a body is a list of statements") {
  const PtxModule module(ptx_module_text(R"(
.entry k() .maxntid 128, 1, 1
{
  .loc 1 2 3, function_name $L__info_string0, inlined_at 1 5 6
  .reg .b32 %r<3>; // not; a statement
  $A: @!%p1 bra.uni $A; /* nor
  this; */ mov.b64 {%r1, %r2}, %rd1;
  { call (r), f, (a, b); }
  ld.global::x.v2.u32 {%r1, %r2}, [%rd1+4];
}
)"));
  const PtxFunction* entry = module.find_entry("k");
  REQUIRE(entry != nullptr);
  CHECK(entry->problem == "");
  CHECK(entry->directives == ".maxntid 128, 1, 1");
  const auto& statements = entry->statements;
  using Kind = PtxStatement::Kind;
  REQUIRE(statements.size() == 8);
  CHECK(statements[0].kind == Kind::Directive);
  CHECK(statements[0].text == ".reg .b32 %r<3>");
  CHECK(statements[1].kind == Kind::Label);
  CHECK(statements[1].text == "$A");
  CHECK(statements[2].guard == "@!%p1");
  CHECK(statements[2].opcode == "bra.uni");
  CHECK(statements[3].opcode == "mov.b64");
  REQUIRE(statements[3].operands.size() == 2);
  CHECK(statements[3].operands[0] == "{%r1, %r2}");
  CHECK(statements[4].kind == Kind::Open);
  REQUIRE(statements[5].operands.size() == 3);
  CHECK(statements[5].operands[2] == "(a, b)");
  CHECK(statements[6].kind == Kind::Close);
  CHECK(statements[7].opcode == "ld.global::x.v2.u32");
  CHECK(statements[7].operands.back() == "[%rd1+4]");
}

TEST_CASE("ptx module: initialisers, sections, declarations and attributes are skipped") {
  const PtxModule module(ptx_module_text(R"(
.visible .global .align 8 .u64 table[2] = {generic(a), 0x10};
.global .attribute(.managed) .align 4 .u32 managed;
.global .align 1 .b8 $str[5] = {37, 100, 59, 123, 0};
.extern .func  (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b) ;
.weak .func f(.param .b64 f_0);
.weak .func f(.param .b64 f_0) { ret; }
.section .debug_str { $L__info_string0: .b8 95, 90 }
.entry k(.param .align 16 .b8 p[32]) { ret; }
)"));
  REQUIRE(module.variables().size() == 3);
  CHECK(module.variables()[0].bytes == 16);
  CHECK(module.variables()[1].name == "managed");
  CHECK(module.variables()[2].name == "$str");
  REQUIRE(module.find_function("vprintf") != nullptr);
  CHECK_FALSE(module.find_function("vprintf")->has_body);
  REQUIRE(module.find_function("f") != nullptr);
  CHECK(module.find_function("f")->has_body);
  REQUIRE(module.find_entry("k") != nullptr);
  CHECK(module.find_entry("k")->entry_parameters.at(0).alignment == 16);
}

TEST_CASE("ptx module: lines do not matter") {
  const PtxModule module(
      ".version 8.5 .target sm_90a, debug .address_size 64 .file 1 \"a // b;\", 2, 3 "
      ".entry k() { .reg .b32 %r<3>; .loc 1 2 3 mov.u32 %r1, 1; "
      ".loc 1 2 3, function_name $L+4, inlined_at 1 2 3 mov.u32%r2,2; ret; }");
  CHECK(module.problem() == "");
  CHECK(module.version() == ".version 8.5");
  CHECK(module.target() == ".target sm_90a, debug");
  CHECK(module.has_64_bit_addresses());
  REQUIRE(module.find_entry("k") != nullptr);
  CHECK(module.find_entry("k")->problem == "");
  const auto& statements = module.find_entry("k")->statements;
  REQUIRE(statements.size() == 4);
  CHECK(statements[1].text == "mov.u32 %r1, 1");
  CHECK(statements[2].opcode == "mov.u32");
  REQUIRE(statements[2].operands.size() == 2);
  CHECK(statements[2].operands[0] == "%r2");
}

TEST_CASE("ptx module: numbers of any base, and none that is not a literal") {
  const PtxModule module(ptx_module_text(
      ".shared .align 010 .b8 a[0100]; .shared .b32 b[0x10][0b11]; .shared .b8 c[08]; "
      ".shared .align 3 .b8 d; .shared .b8 e[1099511627776][1099511627776]; .shared .b12 f;"));
  REQUIRE(module.variables().size() == 2);
  CHECK(module.variables()[0].alignment == 8);
  CHECK(module.variables()[0].bytes == 64);
  CHECK(module.variables()[1].bytes == 4 * 16 * 3);
}

TEST_CASE("ptx module: text that may mean something else is a problem") {
  const auto problem = [](const std::string& text) {
    return PtxModule(ptx_module_text(text)).problem();
  };
  CHECK(problem(".entry k() { ret; }") == "");
  CHECK(problem("# 1 \"k.cu\"\n.entry k() { ret; }") == "contains the character 35");
  CHECK(problem(".entry k() { ret\f; }") == "contains the character 12");
  CHECK(problem(".file 1 \"\xc3\xa9#\\\" // \xc3\xa9") == "");
  CHECK(problem(".entry k() { .pragma \"a\n// b\"; ret; }") ==
        "contains a string of several lines");
  CHECK(problem(".entry k() { ret; } \"") == "contains a string without an end");
  CHECK(
      problem(".entry k() .pragma \"{ ret; }\"; { ret; }").starts_with("unreadable text: .entry"));
  CHECK(problem(".entry k() .maxntid 128, 1, 1 .minnctapersm 2 { ret; } .func f() .noreturn;") ==
        "");
  for (const std::string head :
       {".entry j() .entry k()", ".func f() .func g()", ".extern .func f() .global .b32 x;"})
    CHECK(problem(head + " { ret; }").starts_with("unreadable text: ."));
  CHECK(problem(".entry k() { ret;").starts_with("unreadable text: .entry k() {"));
  CHECK(problem(".file \"a\"").starts_with("unreadable text: .file"));
  const auto function_problem = [](const std::string& body) {
    const PtxModule module(ptx_module_text(".entry k() {" + body + "}"));
    REQUIRE(module.find_entry("k") != nullptr);
    return module.find_entry("k")->problem;
  };
  CHECK(function_problem(".loc 1 2 mov.u32 %r1, 1;").starts_with("unreadable location: .loc 1 2"));
  for (const std::string statement : {"mov.u32 %r1, , %r2;", "mov.u32 %r1, %r2];",
                                      "mov.u32 %r1, [%r2;", "mov.u32 %r1, \"a\";", ";"})
    CHECK(function_problem(statement).starts_with("unreadable statement: "));
}

TEST_CASE("ptx module: no text makes the parser fail") {
  const std::string text = ptx_module_text(kPtxKernels);
  for (std::size_t length = 0; length < text.size(); length += 7)
    CHECK(PtxModule(text.substr(0, length)).functions().size() <= 11);
  for (const char c : {'{', '}', '(', ')', ';', '"', '.', '@', ',', '[', '/', '*', '\0', '%'}) {
    for (std::size_t at = 0; at < text.size(); at += 11) {
      std::string changed = text;
      changed[at] = c;
      const PtxModule module(std::move(changed));
      CHECK(module.functions().size() <= 12);
    }
  }
  const PtxModule module(ptx_module_text(".entry k() { add.s32 %r1, %r1, %r1 }"));
  REQUIRE(module.find_entry("k") != nullptr);
  CHECK(module.find_entry("k")->problem.starts_with("unreadable statement: add.s32"));
}
