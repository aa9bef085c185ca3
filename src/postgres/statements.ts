import { bigintArray, smallintArray, textArray } from './arrays.ts';
import type { Commit } from './commits.ts';
import type { Statement } from './connection.ts';
import { quotedSchema } from './identifier.ts';
import type { FenceRequest, MemberLoad, MemberToJoin } from './members.ts';

/**
 * The statements of a member (cluster.md 5): each is one call of a function, in a transaction that the server begins
 * and ends, so that a client that stops holds no lock. All that varies is bound; no statement reads a clock.
 */
export type Statements = {
  join(id: string, joinedAt: number, member: MemberToJoin): Statement;
  renew(id: string, load: MemberLoad): Statement;
  leave(id: string, reason: string): Statement;
  /** Makes a live member drain. */
  drain(id: string): Statement;
  members(): Statement;
  /** Removes the rows of members that have ended, with their chains. */
  forget(limits: ForgetLimits): Statement;
  claim(id: string, lineages: readonly bigint[]): Statement;
  fence(request: FenceRequest): Statement;
  /** @throws RangeError for rows that no array can hold */
  commit(id: string, number: number, commit: Commit): Statement;
  /** Takes a number of the chain and the next one. */
  void(id: string, number: number): Statement;
  settle(id: string, number: number): Statement;
};

/** `before`: a member is forgotten if its last beat was earlier; `idleBefore`: one that has never committed. */
export type ForgetLimits = {
  before: number;
  idleBefore: number;
  /** The shortest time between two beats, in milliseconds. */
  beatMs: number;
};

type StatementOptions = { schema: string; pooled: boolean; durability: 'process' | 'power' };

export const createStatements = ({ schema, pooled, durability }: StatementOptions): Statements => {
  const inSchema = quotedSchema(schema);
  const call = (name: string, parameters: number): string =>
    `${inSchema}.${name}(${Array.from({ length: parameters }, (_, index) => `$${index + 1}`).join(', ')})`;
  const statement = (name: string, text: string, values: Statement['values']): Statement => ({
    name: pooled ? undefined : `troupe_${name}`,
    text,
    values,
  });
  // The setting ends with the transaction, so a pooler may give the connection to another client.
  const durably =
    durability === 'process' ? "SELECT set_config('synchronous_commit', 'local', true), " : 'SELECT ';
  const texts = {
    join: `${durably}${call('join_1', 6)} AS slot`,
    renew: `SELECT ${call('renew_1', 3)} AS done`,
    leave: `${durably}${call('leave_1', 2)} AS done`,
    drain: `WITH drained AS (
      UPDATE ${inSchema}."member" SET state = 'draining' WHERE id = $1 AND state = 'live' RETURNING id
    ) SELECT EXISTS (SELECT FROM drained) AS done`,
    members: membersText(inSchema),
    forget: `WITH old AS (
      DELETE FROM ${inSchema}."member" m
      WHERE m.state = 'gone' AND m.joined_at + m.beat * $3::bigint < CASE
          WHEN EXISTS (SELECT FROM ${inSchema}."commit" c WHERE c.member = m.id AND c.no > 0) THEN $1::bigint
          ELSE $2::bigint END
        AND NOT EXISTS (SELECT FROM ${inSchema}."lineage" l WHERE l.owner = m.id)
      RETURNING m.id
    ) DELETE FROM ${inSchema}."commit" c USING old WHERE c.member = old.id`,
    claim: `SELECT id, owner FROM ${call('claim_1', 2)}`,
    fence: `${durably}${call('fence_1', 3)} AS done`,
    commit: `${durably}${call('commit_1', 19)}`,
    void: `${durably}${call('void_1', 2)}`,
    settle: `SELECT state, here, before FROM ${call('settle_1', 2)}`,
  };
  return {
    join: (id, joinedAt, { name, url, program, state = 'live' }) =>
      statement('join_1', texts.join, [id, name, url, state, program, joinedAt]),
    renew: (id, { commons, load }) => statement('renew_1', texts.renew, [id, commons, JSON.stringify(load)]),
    leave: (id, reason) => statement('leave_1', texts.leave, [id, reason]),
    drain: (id) => statement('drain_1', texts.drain, [id]),
    members: () => statement('members_1', texts.members, []),
    forget: ({ before, idleBefore, beatMs }) =>
      statement('forget_1', texts.forget, [before, idleBefore, beatMs]),
    claim: (id, lineages) => statement('claim_1', texts.claim, [id, bigintArray(lineages)]),
    fence: ({ member, beat, reason }) => statement('fence_1', texts.fence, [member, beat, reason]),
    commit: (id, number, commit) =>
      statement('commit_1', texts.commit, [id, number, ...commitValues(commit)]),
    void: (id, number) => statement('void_1', texts.void, [id, number]),
    settle: (id, number) => statement('settle_1', texts.settle, [id, number]),
  };
};

const membersText = (schema: string): string => `
SELECT m.id, m.name, m.url, m.slot, m.state, m.reason, m.program, m.joined_at, m.beat, m.commons, m.load,
  c.number AS commons_number, l.owner AS leader
FROM (SELECT (SELECT value FROM ${schema}."meta" WHERE name = 'commons') AS number) c
LEFT JOIN ${schema}."lineage" l ON l.id = 0
LEFT JOIN ${schema}."member" m ON true
ORDER BY m.joined_at, m.id`;

const commitValues = ({ owners, births, releases, gone, rows }: Commit): Buffer[] => {
  const removed = [...gone.values()];
  const put = [...rows.values()];
  return [
    bigintArray([...owners]),
    bigintArray([...births]),
    bigintArray([...releases.keys()]),
    bigintArray([...releases.values()]),
    smallintArray(removed.map(({ kind }) => kind)),
    textArray(removed.map(({ key }) => key)),
    smallintArray(put.map(({ kind }) => kind)),
    textArray(put.map(({ key }) => key)),
    bigintArray(put.map(({ lineage }) => lineage)),
    textArray(put.map(({ scope }) => scope)),
    textArray(put.map(({ a }) => a)),
    textArray(put.map(({ b }) => b)),
    textArray(put.map(({ c }) => c)),
    textArray(put.map(({ d }) => d)),
    bigintArray(put.map(({ at }) => at)),
    bigintArray(put.map(({ at2 }) => at2)),
    textArray(put.map(({ value }) => value)),
  ];
};
