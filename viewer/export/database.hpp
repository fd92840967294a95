// Database: a SQLite output file. Throws ExportError and FileError, both with the path of the
// output. Threads: one at a time.
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "base/atomic_file.hpp"

namespace reprise::trace {

class Database {
 public:
  // Opens one transaction that lasts until commit().
  Database(std::filesystem::path path, const detail::AtomicFileDesc& desc);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  void run(const char* sql);
  // Ends the transaction, closes the database and replaces the output file.
  void commit();

  // A prepared INSERT statement. Must be destroyed before commit().
  class Insert {
   public:
    Insert(Database& database, const char* sql);
    Insert(const Insert&) = delete;
    Insert& operator=(const Insert&) = delete;
    ~Insert() { sqlite3_finalize(statement_); }

    // Inserts one row; an empty optional becomes NULL.
    template <class... Values>
    void row(const Values&... values) {
      int column = 0;
      (bind(++column, values), ...);
      step();
    }

   private:
    template <std::integral T>
    void bind(int column, T value) {
      check(sqlite3_bind_int64(statement_, column, static_cast<sqlite3_int64>(value)));
    }
    void bind(int column, double value) { check(sqlite3_bind_double(statement_, column, value)); }
    void bind(int column, const std::string& text);  // counts towards AtomicFileDesc::max_bytes
    void bind(int column, const char* text) { bind(column, std::string(text)); }
    template <class T>
    void bind(int column, const std::optional<T>& value) {
      if (value) {
        bind(column, *value);
      } else {
        check(sqlite3_bind_null(statement_, column));
      }
    }
    void step();
    void check(int code) { database_.check(code); }

    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
  };

 private:
  void check(int code);  // throws unless `code` is SQLITE_OK

  detail::AtomicFile file_;
  sqlite3* handle_ = nullptr;
};

}  // namespace reprise::trace
