"""Rows of SQLite files: from their pages, or through libsqlite3 where those are odd."""
