-- Journal. An insert touches two b-trees, both near their right edge: the table itself, whose key
-- is the position, and the index that finds a plan's entries in order. hash stands before bytes,
-- so that sealing, which needs hashes only, never follows a long row into its overflow pages.
CREATE TABLE plan (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE entry (
  position INTEGER PRIMARY KEY,
  plan     INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  hash     BLOB NOT NULL,
  bytes    BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX entry_of_plan ON entry (plan, seq);

-- Mailbox. Ids grow and no row is ever deleted, so an id names one command forever.
CREATE TABLE command (
  id     INTEGER PRIMARY KEY,
  plan   TEXT NOT NULL,
  time   INTEGER NOT NULL,
  actor  TEXT NOT NULL,
  name   TEXT NOT NULL,
  body   BLOB NOT NULL,
  code   TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '',
  done   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX command_pending ON command (plan) WHERE done = 0;

-- Merkle tree over the entries' hashes, in tiles of up to 256 hashes, and the signed heads.
CREATE TABLE tile (
  level  INTEGER NOT NULL,
  n      INTEGER NOT NULL,
  hashes BLOB NOT NULL,
  PRIMARY KEY (level, n)
) STRICT;

CREATE TABLE head (
  size INTEGER PRIMARY KEY,
  note BLOB NOT NULL
) STRICT;
