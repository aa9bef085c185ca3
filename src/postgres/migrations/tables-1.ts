/** The kinds that a free lineage is found by, at their time: see `kinds.ts` of the store. */
export const WORK_KINDS = [10, 11, 12, 15, 16, 50, 53] as const;

const WORK = WORK_KINDS.join(', ');

/** Returns the tables and indexes of version 1. `schema` is a quoted name. */
export const tablesSql = (schema: string): string => `
CREATE TABLE ${schema}."meta" (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE ${schema}."member" (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  url text NOT NULL,
  slot smallint NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('live', 'draining', 'gone')),
  reason text,
  program text NOT NULL,
  joined_at bigint NOT NULL,
  beat bigint NOT NULL,
  commons bigint NOT NULL,
  load jsonb
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX member_slot ON ${schema}."member" (slot) WHERE state <> 'gone';

CREATE TABLE ${schema}."commit" (
  member text COLLATE "C" NOT NULL,
  no bigint NOT NULL,
  CONSTRAINT commit_pkey PRIMARY KEY (member, no)
);

CREATE TABLE ${schema}."lineage" (
  id bigint PRIMARY KEY,
  owner text COLLATE "C",
  due bigint
);
CREATE INDEX lineage_owner ON ${schema}."lineage" (owner) WHERE owner IS NOT NULL;
CREATE INDEX lineage_due ON ${schema}."lineage" (due) WHERE owner IS NULL AND due IS NOT NULL;

CREATE TABLE ${schema}."row" (
  kind smallint NOT NULL,
  key text COLLATE "C" NOT NULL,
  lineage bigint,
  scope text COLLATE "C",
  a text COLLATE "C",
  b text COLLATE "C",
  c text COLLATE "C",
  d text COLLATE "C",
  at bigint,
  at2 bigint,
  value text NOT NULL,
  CONSTRAINT row_pkey PRIMARY KEY (kind, key)
) WITH (fillfactor = 90);
CREATE INDEX row_lineage ON ${schema}."row" (lineage);

CREATE INDEX row_threads ON ${schema}."row" (scope, at DESC, key) WHERE kind = 1;
CREATE INDEX row_root_threads ON ${schema}."row" (scope, at DESC, key) WHERE kind = 1 AND b IS NULL;
CREATE INDEX row_threads_by_resource ON ${schema}."row" (scope, a, at DESC, key) WHERE kind = 1;
CREATE INDEX row_threads_by_parent ON ${schema}."row" (scope, b, at DESC, key) WHERE kind = 1;
CREATE INDEX row_runs ON ${schema}."row" (scope, at, key) WHERE kind = 2;
CREATE INDEX row_runs_by_status ON ${schema}."row" (scope, a, at, key) WHERE kind = 2 AND a <> 'done';
CREATE INDEX row_tasks ON ${schema}."row" (scope, at2 DESC, key) WHERE kind = 2;
CREATE INDEX row_tasks_by_agent ON ${schema}."row" (scope, c, at2 DESC, key) WHERE kind = 2;
CREATE INDEX row_traces ON ${schema}."row" (at DESC, key) WHERE kind = 17 AND d = 'done';
CREATE INDEX row_work ON ${schema}."row" (lineage, at) WHERE kind IN (${WORK});
CREATE INDEX row_retention ON ${schema}."row" (kind, at) WHERE kind IN (4, 5);
CREATE INDEX row_commons ON ${schema}."row" (at) WHERE lineage = 0;
`;
