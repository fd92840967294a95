#include "export/database.hpp"

#include <utility>

#include "export/export_error.hpp"

namespace reprise::trace {

Database::Database(std::filesystem::path path, const detail::AtomicFileDesc& desc)
    : file_(std::move(path), desc) {
  try {
    check(sqlite3_open_v2(file_.temporary().c_str(), &handle_,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr));
    // No journal is needed: an incomplete temporary file is removed.
    run("PRAGMA journal_mode = OFF");
    run("PRAGMA synchronous = OFF");
    run("BEGIN");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::check(int code) {
  if (code == SQLITE_OK) return;
  throw ExportError("cannot write " + file_.path().string() + ": " +
                    (handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_)));
}

void Database::run(const char* sql) {
  check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
}

void Database::commit() {
  run("COMMIT");
  check(sqlite3_close(handle_));
  handle_ = nullptr;
  file_.commit();
}

Database::Insert::Insert(Database& database, const char* sql) : database_(database) {
  check(sqlite3_prepare_v2(database.handle_, sql, -1, &statement_, nullptr));
}

void Database::Insert::bind(int column, const std::string& text) {
  database_.file_.count(text.size());
  check(sqlite3_bind_text(statement_, column, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT));
}

void Database::Insert::step() {
  const int code = sqlite3_step(statement_);
  check(code == SQLITE_DONE ? SQLITE_OK : code);
  check(sqlite3_reset(statement_));
}

}  // namespace reprise::trace
