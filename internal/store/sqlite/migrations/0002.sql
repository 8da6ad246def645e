-- Spending of a day, over all plans. A day's row is the sum of what was settled and of what is reserved; a
-- reservation stands by itself until it is settled, and one that never is stays in the sum.
CREATE TABLE day (
  day           TEXT PRIMARY KEY,
  spent_time    INTEGER NOT NULL DEFAULT 0,
  spent_cost    INTEGER NOT NULL DEFAULT 0,
  spent_calls   INTEGER NOT NULL DEFAULT 0,
  spent_tokens  INTEGER NOT NULL DEFAULT 0,
  held_time     INTEGER NOT NULL DEFAULT 0,
  held_cost     INTEGER NOT NULL DEFAULT 0,
  held_calls    INTEGER NOT NULL DEFAULT 0,
  held_tokens   INTEGER NOT NULL DEFAULT 0,
  raised_time   INTEGER NOT NULL DEFAULT 0,
  raised_cost   INTEGER NOT NULL DEFAULT 0,
  raised_calls  INTEGER NOT NULL DEFAULT 0,
  raised_tokens INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE reservation (
  key    TEXT PRIMARY KEY,
  day    TEXT NOT NULL,
  time   INTEGER NOT NULL,
  cost   INTEGER NOT NULL,
  calls  INTEGER NOT NULL,
  tokens INTEGER NOT NULL
) STRICT;
