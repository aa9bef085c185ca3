import type { Postgres } from './postgres.ts';

/** Changes of the functions of a database that remove one of their guarantees, so that a test shows what it is for. */

const MEMBER_IS_LIVE =
  'PERFORM 1 FROM "troupe"."member" m WHERE m.id = me AND m.state <> \'gone\' FOR SHARE;';
const PREDECESSOR = 'PERFORM 1 FROM "troupe"."commit" c WHERE c.member = me AND c.no = n - 1;';
const NUMBER = 'INSERT INTO "troupe"."commit" (member, no) VALUES (me, n);';

type Replacement = readonly [text: string, by: string];

const MUTATIONS = {
  /** Step 1: a fenced member commits. */
  'no fence': [[MEMBER_IS_LIVE, 'PERFORM 1;']],
  /** Step 1 without a lock: a takeover passes a commit under way. */
  'no lock': [[MEMBER_IS_LIVE, MEMBER_IS_LIVE.replace(' FOR SHARE', '')]],
  /** Steps 2 and 3: a copy of a commit is applied again, in any order. */
  'no chain': [
    [PREDECESSOR, 'PERFORM 1;'],
    [NUMBER, `${NUMBER.slice(0, -1)} ON CONFLICT DO NOTHING;`],
  ],
  /** Step 1 as an update: each commit leaves a dead version of the row. */
  'update fence': [
    [MEMBER_IS_LIVE, 'UPDATE "troupe"."member" m SET beat = beat WHERE m.id = me AND m.state <> \'gone\';'],
  ],
  /** Steps 1, 2, 3 and 5: what the fence costs. */
  'rows only': [
    [MEMBER_IS_LIVE, 'PERFORM 1;'],
    [PREDECESSOR, 'PERFORM 1;'],
    [NUMBER, ''],
    ['WHERE l.owner IS DISTINCT FROM me LIMIT 1;', 'WHERE false;'],
  ],
} as const satisfies Record<string, readonly Replacement[]>;

export type Mutation = keyof typeof MUTATIONS;

/** @throws Error if the function does not contain a replaced text */
export const mutate = (postgres: Postgres, database: string, mutation: Mutation): void => {
  let text = postgres.sql(
    database,
    "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'commit_1' AND pronamespace = 'troupe'::regnamespace",
  );
  for (const [part, by] of MUTATIONS[mutation]) {
    const replaced = text.replace(part, () => by);
    if (replaced === text) throw new Error(`commit_1 does not contain: ${part}`);
    text = replaced;
  }
  postgres.sql(database, text);
};
