#!/usr/bin/env python3
"""Tests of engine/trace/make_records.py: what it makes of a schema, and which schemas it refuses.

usage: make_records_test.py ENGINE
"""
import pathlib
import sys
import unittest

ENGINE = pathlib.Path(sys.argv.pop(1))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ENGINE / "trace"))
import make_records

CHUNK = "table Chunk {\n  ones:[One];\n}\n"


def generator(schema):
    return make_records.Generator(make_records.parse(schema + CHUNK))


class MakeRecordsTest(unittest.TestCase):
    def refused(self, schema, text):
        with self.assertRaises(make_records.SchemaError) as raised:
            generator(schema).types_header()
        self.assertEqual(str(raised.exception), text)

    def test_a_struct_has_the_fields_in_the_order_given_with_their_comments_and_defaults(self):
        header = generator('''// One thing.
enum Kind:uint8 { Small, Large }

// Says what.
struct One (order: "kind at id grid") {
  at:int64 (moment);  // when
  id:uint32 (refers: "Thing", default: "kNone");
  grid:[uint32:3];
  kind:Kind (default: "Kind::Large");
}
''').types_header()
        self.assertIn('''// One thing.
enum class Kind : std::uint8_t { Small, Large };
''', header)
        self.assertIn('''// Says what.
struct One {
  Kind kind = Kind::Large;
  // when
  Time at = 0;
  std::uint32_t id = kNone;
  std::uint32_t grid[3] = {};
  friend bool operator==''', header)
        self.assertIn("kMoments<One>{&One::at};", header)
        self.assertIn("IdField<One>{IdKind::Thing, &One::id}", header)
        self.assertIn("enum class IdKind : std::uint8_t { Thing };", header)

    def test_a_table_has_a_default_of_the_encoding_and_a_session(self):
        header = generator("table One {\n  graph:uint32 = 4294967295;\n  session:uint32 (refers: \"Session\");\n"
                           "  name:string;\n  uuid:[ubyte] (bytes: 16);\n  names:[string];\n}\n").types_header()
        for line in ("std::uint32_t graph = kNone;", "kSession<One> = &One::session;", "std::string name;",
                     "std::array<std::uint8_t, 16> uuid{};", "std::vector<std::string> names;",
                     "std::vector<One> ones;", "using Record = std::variant<One>;", "visit(&RecordsByKind::ones);"):
            self.assertIn(line, header)

    def test_conversions_check_times_and_enumerators_and_take_fields_in_the_order_of_the_encoding(self):
        codec = generator('''enum Kind:uint8 { Small, Large }
struct One (checked, order: "kind at length") {
  at:int64 (moment);
  length:int64 (time);
  kind:Kind;
}
table Two {
  name:string (shared);
  text:string;
  ones:[One];
}
''').codec_header()
        for text in ("r.at = in.time(w.at());\n  r.length = in.time(w.length());\n"
                     "  r.kind = in.enumerator(w.kind(), Kind::Large);\n  in.check(r);\n}",
                     "return wire::One(r.at, r.length, static_cast<wire::Kind>(r.kind));",
                     "wire::CreateTwo(out.builder(), out.shared_text(r.name), out.text(r.text), out.structs(r.ones));",
                     "content_bytes(r.name) + content_bytes(r.text) + content_bytes(r.ones);"):
            self.assertIn(text, codec)

    def test_what_is_written_by_hand_is_left_out(self):
        one = generator("table One (handwritten) {\n  count:uint32;\n}\n")
        self.assertNotIn("struct One", one.types_header())
        self.assertNotIn("wire::One&", one.codec_header())
        self.assertIn("std::vector<One> ones;", one.types_header())

    def test_mistakes_are_named(self):
        self.refused("struct One {\n  at:int64 (momnt);\n}\n", "One.at: unknown attribute momnt")
        self.refused("struct One {\n  at:Thing;\n}\n", "One.at: unknown type Thing")
        self.refused("struct One {\n  at:[Thing];\n}\n", "One.at: unknown type [Thing]")
        self.refused("struct One {\n  at:uint32 (time);\n}\n", "One.at: a time is an int64")
        self.refused("struct One {\n  id:uint64 (refers: \"Queue\");\n}\n", "One.id: an id is a uint32")
        self.refused("struct One (order: \"at\") {\n  at:int64;\n  id:uint32;\n}\n",
                     "One: order does not name each field once")
        self.refused("struct One {\n  at int64;\n}\n", "One: cannot read 'at int64;'")
        self.refused("union One { a, b }\n", "schema: cannot read 'union One { a, b }'")


if __name__ == "__main__":
    unittest.main()
