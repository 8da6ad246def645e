-- Turns of what may begin only so often, over all plans and processes. One start has a row under each of its keys;
-- waits marks the key that it had to wait for. A row is dropped when no stretch that anybody ever counted under its key
-- reaches back to it: keep is the longest.
CREATE TABLE turn (
  key   TEXT NOT NULL,
  at    INTEGER NOT NULL,
  who   TEXT NOT NULL,
  waits INTEGER NOT NULL
) STRICT;

CREATE INDEX turn_of_key ON turn (key, at);
CREATE INDEX turn_by_time ON turn (at);

CREATE TABLE pace (
  key  TEXT PRIMARY KEY,
  keep INTEGER NOT NULL
) STRICT;
