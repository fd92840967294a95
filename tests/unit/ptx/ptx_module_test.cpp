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
