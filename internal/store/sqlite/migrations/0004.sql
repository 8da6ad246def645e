-- Memory. A fact is written once; only its link to the one that superseded it is set later. The partial index is the promise
-- that a key has one current fact in a place, whoever writes. Confidence is in thousandths, times are in nanoseconds.
CREATE TABLE fact (
  id         INTEGER PRIMARY KEY,
  scope      TEXT NOT NULL,
  of         TEXT NOT NULL,
  key        TEXT NOT NULL,
  value      BLOB NOT NULL,
  source     BLOB NOT NULL,
  confidence INTEGER NOT NULL,
  expires    INTEGER NOT NULL,
  time       INTEGER NOT NULL,
  author     TEXT NOT NULL,
  supersedes INTEGER NOT NULL,
  superseded INTEGER NOT NULL DEFAULT 0,
  forgotten  INTEGER NOT NULL,
  why        TEXT NOT NULL,
  effect     TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX fact_current ON fact (scope, of, key) WHERE superseded = 0;
CREATE INDEX fact_history ON fact (scope, of, key, id);
CREATE UNIQUE INDEX fact_effect ON fact (effect) WHERE effect <> '';

-- What current facts say, as terms that are cut and folded before they come here: words of the key, words of the value, and
-- pairs of Hangul syllables of both. It holds no text of its own, and nothing of facts that are superseded.
CREATE VIRTUAL TABLE fact_text USING fts5(name, body, hangul, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0");

-- In how many current facts a term is: what decides which terms are worth following.
CREATE TABLE fact_term (
  term TEXT PRIMARY KEY,
  seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
