#!/usr/bin/env python3
"""Derives the C++ types of a trace's records, and their conversions, from schema.fbs, which documents its attributes.

usage: make_records.py SCHEMA FOLDER

Writes FOLDER/records_generated.hpp and FOLDER/codec_generated.hpp.
"""
import dataclasses
import pathlib
import re
import sys

ATTRIBUTES = {"order", "checked", "handwritten", "default", "moment", "time", "refers", "shared", "bytes"}
NUMBERS = {"uint8": "std::uint8_t", "uint16": "std::uint16_t", "uint32": "std::uint32_t", "uint64": "std::uint64_t",
           "int64": "std::int64_t", "double": "double"}
NONE = str(0xffffffff)

COMMENT = r"(?P<comment>(?:[ ]*//[^\n]*\n)*)"
ATTRIBUTE_LIST = r"(?:\((?P<attributes>[^)]*)\))?"
TYPE = re.compile(COMMENT + r"(?P<what>table|struct|enum)\s+(?P<name>\w+)(?::uint8)?\s*" + ATTRIBUTE_LIST +
                  r"\s*\{(?P<body>[^}]*)\}\n*")
FIELD = re.compile(COMMENT + r"\s*(?P<name>\w+):(?P<type>\w+|\[\w+(?::\d+)?\])\s*(?:=\s*(?P<default>\w+)\s*)?" +
                   ATTRIBUTE_LIST + r";(?P<tail>[ ]*//[^\n]*)?\n")
REST = re.compile(r"\s*(//[^\n]*|(namespace|attribute|root_type|file_identifier)\s[^\n]*)?\n")


class SchemaError(Exception):
    pass


@dataclasses.dataclass
class Field:
    name: str
    type: str
    comment: str
    attributes: dict

    @property
    def element(self):  # of a vector or an array; empty: it is neither
        return self.type[1:-1].split(":")[0] if self.type.startswith("[") else ""

    @property
    def is_time(self):
        return "time" in self.attributes or "moment" in self.attributes

    @property
    def id_kind(self):  # empty: it is no id
        kind = self.attributes.get("refers", "")
        return "" if kind == "Session" else kind


@dataclasses.dataclass
class Type:
    what: str
    name: str
    comment: str
    attributes: dict
    fields: list
    enumerators: list

    @property
    def in_order(self):  # the fields as C++ has them
        if "order" not in self.attributes:
            return self.fields
        by_name = {field.name: field for field in self.fields}
        names = self.attributes["order"].split()
        if sorted(names) != sorted(by_name):
            raise SchemaError(f"{self.name}: order does not name each field once")
        return [by_name[name] for name in names]


def parse_attributes(text, where):
    attributes = {}
    for part in filter(None, map(str.strip, re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", text or ""))):
        name, _, value = part.partition(":")
        if name not in ATTRIBUTES:
            raise SchemaError(f"{where}: unknown attribute {name}")
        attributes[name] = value.strip().strip('"')
    return attributes


def take_all(pattern, text, where, make, rest=r"\s*"):
    """The matches of `pattern`, made into what `make` returns; nothing but `rest` may lie between them."""
    found, at = [], 0
    while at < len(text):
        match = pattern.match(text, at)
        if match:
            found.append(make(match))
        else:
            match = re.compile(rest).match(text, at)
            if not match or match.end() == at:
                raise SchemaError(f"{where}: cannot read {text[at:].strip().splitlines()[0]!r}")
        at = match.end()
    return found


def parse_field(match, of):
    attributes = parse_attributes(match["attributes"], f"{of}.{match['name']}")
    if match["default"] is not None:
        attributes.setdefault("default", "kNone" if match["default"] == NONE else match["default"])
    tail = (match["tail"] or "").strip()
    return Field(match["name"], match["type"], match["comment"] + (f"  {tail}\n" if tail else ""), attributes)


def parse_type(match):
    name, body = match["name"], match["body"]
    attributes = parse_attributes(match["attributes"], name)
    if match["what"] == "enum":
        return Type("enum", name, match["comment"], attributes, [], [word.strip() for word in body.split(",")])
    fields = take_all(FIELD, body.lstrip("\n"), name, lambda field: parse_field(field, name))
    return Type(match["what"], name, match["comment"], attributes, fields, [])


def parse(text):
    types = {one.name: one for one in take_all(TYPE, text, "schema", parse_type, REST)}
    for one in types.values():
        for field in one.fields:
            known = field.element or field.type
            if known not in types and known not in NUMBERS and known not in ("string", "ubyte"):
                raise SchemaError(f"{one.name}.{field.name}: unknown type {field.type}")
            if field.is_time and field.type != "int64":
                raise SchemaError(f"{one.name}.{field.name}: a time is an int64")
            if "refers" in field.attributes and field.type != "uint32":
                raise SchemaError(f"{one.name}.{field.name}: an id is a uint32")
    if "Chunk" not in types:
        raise SchemaError("schema: there is no table Chunk")
    return types


class Generator:
    def __init__(self, types):
        self.types = types
        self.chunk = types["Chunk"]
        self.records = [one for one in types.values() if one.what != "enum" and one is not self.chunk]

    def is_enum(self, name):
        return name in self.types and self.types[name].what == "enum"

    def last(self, name):
        return f"{name}::{self.types[name].enumerators[-1]}"

    # --- Types ---

    def declare_field(self, field):
        default = field.attributes.get("default")
        if field.type == "string":
            return f"std::string {field.name};"
        if "bytes" in field.attributes:
            return f"std::array<std::uint8_t, {field.attributes['bytes']}> {field.name}{{}};"
        if ":" in field.type:
            number = NUMBERS[field.element]
            return f"{number} {field.name}[{field.type[1:-1].split(':')[1]}] = {{}};"
        if field.element:
            element = {"string": "std::string", "ubyte": "std::uint8_t"}.get(field.element, field.element)
            return f"std::vector<{element}> {field.name};"
        if self.is_enum(field.type):
            return f"{field.type} {field.name} = {default or field.type + '::' + self.types[field.type].enumerators[0]};"
        return f"{'Time' if field.is_time else NUMBERS[field.type]} {field.name} = {default or '0'};"

    def declare(self, one):
        if one.what == "enum":
            return f"{one.comment}enum class {one.name} : std::uint8_t {{ {', '.join(one.enumerators)} }};\n"
        lines = "".join(f"{field.comment}  {self.declare_field(field)}\n" for field in one.in_order)
        return (f"{one.comment}struct {one.name} {{\n{lines}"
                f"  friend bool operator==(const {one.name}&, const {one.name}&) = default;\n}};\n")

    def types_header(self):
        kinds = list(dict.fromkeys(field.id_kind for one in self.records for field in one.fields if field.id_kind))
        parts = ["// Made from schema.fbs by make_records.py: included by records.hpp.\n#pragma once\n"
                 "\nnamespace reprise::trace {\n"]
        parts += [self.declare(one) for one in self.types.values()
                  if one is not self.chunk and "handwritten" not in one.attributes]
        parts.append("// Kinds of objects that ids refer to.\n"
                     f"enum class IdKind : std::uint8_t {{ {', '.join(kinds)} }};\n"
                     f"inline constexpr std::size_t kIdKinds = {len(kinds)};\n")
        parts.append("// An id in a record: its kind and its field.\n"
                     "template <class R>\nstruct IdField {\n  IdKind kind;\n  std::uint32_t R::*field;\n};\n")
        parts.append("// The times at which a record's event happened, its ids, and the session that it names.\n"
                     "template <class R>\ninline constexpr std::array<Time R::*, 0> kMoments{};\n"
                     "template <class R>\ninline constexpr std::array<IdField<R>, 0> kIds{};\n"
                     "template <class R>\ninline constexpr std::uint32_t R::*kSession = nullptr;\n")
        for one in self.records:
            if "handwritten" in one.attributes:
                continue
            moments = [f"&{one.name}::{field.name}" for field in one.fields if "moment" in field.attributes]
            if moments:
                parts.append(f"template <>\ninline constexpr std::array<Time {one.name}::*, {len(moments)}> "
                             f"kMoments<{one.name}>{{{', '.join(moments)}}};\n")
            ids = [field for field in one.fields if field.id_kind]
            if ids:
                values = ", ".join(f"IdField<{one.name}>{{IdKind::{f.id_kind}, &{one.name}::{f.name}}}" for f in ids)
                parts.append(f"template <>\ninline constexpr std::array<IdField<{one.name}>, {len(ids)}> "
                             f"kIds<{one.name}>{{{values}}};\n")
            for field in one.fields:
                if field.attributes.get("refers") == "Session":  # of at most one field
                    parts.append(f"template <>\ninline constexpr std::uint32_t {one.name}::*kSession<{one.name}> = "
                                 f"&{one.name}::{field.name};\n")
        kinds = [(field.element, field.name) for field in self.chunk.fields]
        vectors = "".join(f"  std::vector<{record}> {name};\n" for record, name in kinds)
        visits = "".join(f"    visit(&RecordsByKind::{name});\n" for _, name in kinds)
        parts.append("// The records of one chunk by kind, each kind in the order of writing.\n"
                     f"struct RecordsByKind {{\n{vectors}"
                     "  friend bool operator==(const RecordsByKind&, const RecordsByKind&) = default;\n\n"
                     "  // Calls visit(&RecordsByKind::...) for each vector, in the order of the schema.\n"
                     "  template <class Visit>\n  static void each(Visit visit) {\n"
                     f"{visits}  }}\n}};\n")
        parts.append(f"using Record = std::variant<{', '.join(record for record, _ in kinds)}>;\n")
        return "\n".join(parts) + "\n}  // namespace reprise::trace\n"

    # --- Conversions ---

    def read(self, field):
        value, to = f"w.{field.name}()", f"r.{field.name}"
        if field.type == "string":
            return f"{to} = in.text({value});"
        if ":" in field.type or "bytes" in field.attributes:
            return f"in.copy({value}, {to});"
        if field.element:
            return f"in.convert({value}, {to});"
        if self.is_enum(field.type):
            return f"{to} = in.enumerator({value}, {self.last(field.type)});"
        return f"{to} = in.time({value});" if field.is_time else f"{to} = {value};"

    def write(self, field):
        value = f"r.{field.name}"
        if field.type == "string":
            return f"out.{'shared_text' if 'shared' in field.attributes else 'text'}({value})"
        if ":" in field.type:
            return f"flatbuffers::make_span({value})"
        if "bytes" in field.attributes or field.element == "ubyte":
            return f"out.bytes({value})"
        if field.element:
            is_struct = field.element in self.types and self.types[field.element].what == "struct"
            return f"out.{'structs' if is_struct else 'tables'}({value})"
        return f"static_cast<wire::{field.type}>({value})" if self.is_enum(field.type) else value

    def conversions(self, one):
        record = "RecordsByKind" if one is self.chunk else one.name
        reads = "".join(f"  {self.read(field)}\n" for field in one.fields)
        if "checked" in one.attributes:
            reads += "  in.check(r);\n"
        writes = ", ".join(self.write(field) for field in one.fields)
        if one.what == "struct":
            made, result = f"wire::{one.name}({writes})", f"wire::{one.name}"
        else:
            made, result = f"wire::Create{one.name}(out.builder(), {writes})", f"flatbuffers::Offset<wire::{one.name}>"
        used = "out" if "out." in made else "/*out*/"
        taken = "in" if "in." in reads else "/*in*/"
        return (f"template <class In>\nvoid from_wire(In& {taken}, const wire::{one.name}& w, {record}& r) {{\n{reads}}}\n"
                f"template <class Out>\n{result} to_wire(Out& {used}, const {record}& r) {{\n  return {made};\n}}\n")

    def content(self, one):
        sizes = [f"content_bytes(r.{field.name})" for field in one.fields
                 if field.type == "string" or (field.element and ":" not in field.type and "bytes" not in field.attributes)]
        if not sizes:
            return ""
        return f"inline std::size_t content_bytes(const {one.name}& r) {{\n  return {' + '.join(sizes)};\n}}\n"

    def codec_header(self):
        converted = [one for one in self.records if "handwritten" not in one.attributes] + [self.chunk]
        parts = ["// Made from schema.fbs by make_records.py: included by encode.cpp and decode.cpp.\n#pragma once\n\n"
                 '#include "trace/codec.hpp"\n#include "trace/schema_generated.h"\n\nnamespace reprise::trace {\n',
                 "// Memory of strings and vectors beside a record.\n"
                 "inline std::size_t content_bytes(const std::string& text) { return text.size(); }\n"
                 "template <class R>\nstd::size_t content_bytes(const R&) {\n  return 0;\n}\n"
                 "inline std::size_t content_bytes(const std::vector<std::string>& texts) {\n"
                 "  std::size_t bytes = texts.size() * sizeof(std::string);\n"
                 "  for (const std::string& text : texts) bytes += text.size();\n  return bytes;\n}\n"
                 "template <class R>\nstd::size_t content_bytes(const std::vector<R>& values) {\n"
                 "  return values.size() * sizeof(R);\n}\n"]
        parts += filter(None, (self.content(one) for one in converted if one is not self.chunk))
        parts += [self.conversions(one) for one in converted]
        return "\n".join(parts) + "\n}  // namespace reprise::trace\n"


def main(schema, folder):
    try:
        generator = Generator(parse(pathlib.Path(schema).read_text()))
        texts = {"records_generated.hpp": generator.types_header(), "codec_generated.hpp": generator.codec_header()}
    except SchemaError as error:
        sys.exit(f"{schema}: {error}")
    for name, text in texts.items():
        (pathlib.Path(folder) / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
