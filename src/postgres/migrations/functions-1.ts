/** The kinds whose rows are inserted once, see `kinds.ts` of the store. */
export const APPEND_KINDS = [3, 4, 18, 22, 24] as const;

/** Whether an owner is no member that can commit. */
const isNotLive = (schema: string, owner: string): string =>
  `(${owner} IS NULL OR NOT EXISTS (SELECT FROM ${schema}."member" m WHERE m.id = ${owner} AND m.state <> 'gone'))`;

/**
 * Makes the end of a membership wait for this transaction, and this transaction fail behind that end: the server
 * evaluates the condition again when it has the lock.
 */
const holdMember = (schema: string): string => `
  PERFORM 1 FROM ${schema}."member" m WHERE m.id = me AND m.state <> 'gone' FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'member % is fenced', me USING ERRCODE = 'TR001';
  END IF;`;

const checkChain = (schema: string): string => `
  PERFORM 1 FROM ${schema}."commit" c WHERE c.member = me AND c.no = n - 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'commit % of member % is not in the database', n - 1, me USING ERRCODE = 'TR002';
  END IF;`;

/** How every function runs: names are qualified, and no lock is waited for longer than this. */
const SETTINGS = `SET search_path = '' SET lock_timeout = '2s'`;

/** Returns the functions of version 1. `schema` is a quoted name. */
export const functionsSql = (schema: string): string =>
  [members, fences, commits].map((part) => part(schema)).join('\n');

const members = (schema: string): string => `
CREATE FUNCTION ${schema}.join_1(
  me text, name text, url text, state text, program text, joined_at bigint
) RETURNS smallint LANGUAGE plpgsql ${SETTINGS} AS $$
#variable_conflict use_column
DECLARE
  free smallint;
BEGIN
  SELECT min(s) INTO free FROM generate_series(0, 31) s
    WHERE NOT EXISTS (SELECT FROM ${schema}."member" m WHERE m.slot = s AND m.state <> 'gone');
  IF free IS NOT NULL THEN
    INSERT INTO ${schema}."member" (id, name, url, slot, state, program, joined_at, beat, commons)
      VALUES (me, join_1.name, join_1.url, free, join_1.state, join_1.program, join_1.joined_at, 0, 0);
    INSERT INTO ${schema}."commit" (member, no) VALUES (me, 0);
  END IF;
  RETURN free;
END $$;

CREATE FUNCTION ${schema}.renew_1(me text, commons bigint, load jsonb)
RETURNS boolean LANGUAGE plpgsql ${SETTINGS} AS $$
#variable_conflict use_column
BEGIN
  UPDATE ${schema}."member" SET beat = beat + 1, commons = renew_1.commons, load = renew_1.load
    WHERE id = me AND state <> 'gone';
  RETURN FOUND;
END $$;

CREATE FUNCTION ${schema}.leave_1(me text, reason text)
RETURNS boolean LANGUAGE plpgsql ${SETTINGS} AS $$
#variable_conflict use_column
BEGIN
  UPDATE ${schema}."member" SET state = 'gone', reason = leave_1.reason WHERE id = me AND state <> 'gone';
  RETURN FOUND;
END $$;
`;

const fences = (schema: string): string => `
CREATE FUNCTION ${schema}.claim_1(me text, ids bigint[])
RETURNS TABLE (id bigint, owner text) LANGUAGE plpgsql ${SETTINGS} AS $$
#variable_conflict use_column
BEGIN${holdMember(schema)}
  INSERT INTO ${schema}."lineage" AS l (id, owner)
    SELECT DISTINCT i, me FROM unnest(ids) i ORDER BY i
    ON CONFLICT (id) DO UPDATE SET owner = me, due = NULL WHERE ${isNotLive(schema, 'l.owner')};
  RETURN QUERY SELECT l.id, l.owner FROM ${schema}."lineage" l WHERE l.id = ANY (ids);
END $$;

CREATE FUNCTION ${schema}.fence_1(dead text, seen bigint, reason text)
RETURNS boolean LANGUAGE plpgsql ${SETTINGS} AS $$
#variable_conflict use_column
BEGIN
  UPDATE ${schema}."member" SET state = 'gone', reason = fence_1.reason
    WHERE id = dead AND state <> 'gone' AND beat = seen;
  RETURN FOUND;
END $$;
`;

const commits = (schema: string): string => `
CREATE FUNCTION ${schema}.clash_1(kind smallint, key text)
RETURNS text LANGUAGE plpgsql ${SETTINGS} AS $$
BEGIN
  RAISE EXCEPTION 'row % of kind % is there already', key, kind USING ERRCODE = 'TR004';
END $$;

CREATE FUNCTION ${schema}.commit_1(
  me text, n bigint, owners bigint[], births bigint[], releases bigint[], dues bigint[],
  gone_kind smallint[], gone_key text[],
  kind smallint[], key text[], lineage bigint[], scope text[], a text[], b text[], c text[], d text[],
  at bigint[], at2 bigint[], value text[]
) RETURNS void LANGUAGE plpgsql ${SETTINGS} AS $$
#variable_conflict use_column
DECLARE
  number bigint;
BEGIN${holdMember(schema)}${checkChain(schema)}
  INSERT INTO ${schema}."commit" (member, no) VALUES (me, n);
  IF cardinality(births) > 0 THEN
    INSERT INTO ${schema}."lineage" AS l (id, owner)
      SELECT DISTINCT i, me FROM unnest(births) i ORDER BY i
      ON CONFLICT (id) DO UPDATE SET owner = me, due = NULL WHERE ${isNotLive(schema, 'l.owner')};
  END IF;
  SELECT o.id INTO number FROM unnest(owners) AS o (id)
    LEFT JOIN ${schema}."lineage" l ON l.id = o.id WHERE l.owner IS DISTINCT FROM me LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'member % does not own lineage %', me, number USING ERRCODE = 'TR003';
  END IF;
  IF cardinality(gone_kind) > 0 THEN
    DELETE FROM ${schema}."row" r USING unnest(gone_kind, gone_key) AS g (kind, key)
      WHERE r.kind = g.kind AND r.key = g.key;
  END IF;
  INSERT INTO ${schema}."row" AS r (kind, key, lineage, scope, a, b, c, d, at, at2, value)
    SELECT * FROM unnest(
      commit_1.kind, commit_1.key, commit_1.lineage, commit_1.scope, commit_1.a, commit_1.b, commit_1.c, commit_1.d,
      commit_1.at, commit_1.at2, commit_1.value)
    ON CONFLICT (kind, key) DO UPDATE SET
      scope = excluded.scope, a = excluded.a, b = excluded.b, c = excluded.c, d = excluded.d,
      at = excluded.at, at2 = excluded.at2,
      value = CASE
        WHEN r.lineage IS DISTINCT FROM excluded.lineage OR r.kind IN (${APPEND_KINDS.join(', ')})
        THEN ${schema}.clash_1(r.kind, r.key)
        ELSE excluded.value END;
  IF cardinality(releases) > 0 THEN
    UPDATE ${schema}."lineage" l SET owner = NULL, due = g.due FROM unnest(releases, dues) AS g (id, due)
      WHERE l.id = g.id AND l.owner = me;
  END IF;
  IF 0 = ANY (owners) THEN
    SELECT max(g.at) INTO number FROM unnest(commit_1.kind, commit_1.at) AS g (kind, at)
      WHERE g.kind BETWEEN 20 AND 24;
    IF number IS NOT NULL THEN
      UPDATE ${schema}."meta" SET value = number::text WHERE name = 'commons';
    END IF;
  END IF;
  IF n % 100 = 0 THEN
    DELETE FROM ${schema}."commit" WHERE member = me AND no < n - 1000;
  END IF;
END $$;

CREATE FUNCTION ${schema}.void_1(me text, n bigint)
RETURNS void LANGUAGE plpgsql ${SETTINGS} AS $$
BEGIN${holdMember(schema)}${checkChain(schema)}
  INSERT INTO ${schema}."commit" (member, no) VALUES (me, n), (me, n + 1);
END $$;

CREATE FUNCTION ${schema}.settle_1(me text, n bigint)
RETURNS TABLE (state text, here boolean, before boolean) LANGUAGE sql ${SETTINGS} AS $$
  SELECT (SELECT m.state FROM ${schema}."member" m WHERE m.id = me),
    EXISTS (SELECT FROM ${schema}."commit" c WHERE c.member = me AND c.no = n),
    EXISTS (SELECT FROM ${schema}."commit" c WHERE c.member = me AND c.no = n - 1)
$$;
`;
