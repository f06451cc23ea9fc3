// The tables of the index. A database of another version is thrown away and made anew from the
// event files.
#pragma once

namespace mycel::insight::store {

constexpr int kVersion = 1;

constexpr const char* kTables = R"(
CREATE TABLE run (
  id INTEGER PRIMARY KEY, name TEXT UNIQUE, first REAL, last REAL, step INTEGER DEFAULT 0);
CREATE TABLE file (
  id INTEGER PRIMARY KEY, run INTEGER, path TEXT UNIQUE, inode INTEGER, position INTEGER,
  damaged INTEGER DEFAULT 0, lost INTEGER DEFAULT 0);
CREATE TABLE series (
  id INTEGER PRIMARY KEY, run INTEGER, tag TEXT, kind INTEGER, count INTEGER,
  first_step INTEGER, last_step INTEGER, last_when REAL, last_value REAL, UNIQUE (tag, run, kind));
CREATE TABLE chunk (
  series INTEGER, number INTEGER, count INTEGER, not_finite INTEGER,
  min_step INTEGER, max_step INTEGER, min_when REAL, max_when REAL, min REAL, max REAL, sum REAL,
  points BLOB, PRIMARY KEY (series, number));
CREATE TABLE item (
  series INTEGER, number INTEGER, step INTEGER, moment REAL, file INTEGER, position INTEGER,
  PRIMARY KEY (series, number)) WITHOUT ROWID;
CREATE TABLE fact (
  run INTEGER, key TEXT, value, boolean INTEGER DEFAULT 0, PRIMARY KEY (run, key)) WITHOUT ROWID;
)";

}  // namespace mycel::insight::store
