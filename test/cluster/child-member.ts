import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { type Random, randomFrom } from '../../src/load-generator/random.ts';
import { type Database, type Membership, openDatabase } from '../../src/postgres/index.ts';
import type { ShippedBatch, ShippedRow } from '../../src/store/engine/sink.ts';
import { below, pick } from '../crash/random.ts';
import { type Line, SLOTS, type Write } from './history.ts';
import type { MemberOptions } from './member.ts';

/**
 * A member of a cluster that owns lineages and writes numbered rows to them until its stdin ends. It prints a line
 * before each group that it sends, and one behind its outcome. It does not look at its own lease: that a stopped member
 * writes nothing afterwards is left to the database.
 */

const options: MemberOptions = JSON.parse(process.argv[2] ?? '');
const { name, ttlMs, lineages, most, pauseMs } = options;

const KINDS = { append: 4, number: 6, stray: 7, slot: 9 } as const;
const GROUP = 3;
const STRAYS = 0.02;
const RELEASES = 0.01;
const BIRTHS = 0.01;
const REMOVALS = 0.1;

/** Monotonic, and the same for all processes of the host. */
const now = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

const print = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

let isEnding = false;
let count = 0;
let births = 0;

/** Repeats what fails while the database is away. */
const insist = async <Value>(act: () => Promise<Value>): Promise<Value> => {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (isEnding) throw error;
      await pause(50);
    }
  }
};

/** Reads the last number of a lineage, directly from the server. */
const lastOf = (lineage: string): Promise<number> =>
  insist(async () => {
    const client = new Client({ connectionString: options.direct, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const text = `SELECT coalesce(max((value::json->>'n')::int), 0) AS last FROM troupe.row
        WHERE lineage = $1 AND kind IN (${KINDS.append}, ${KINDS.number})`;
      const { rows } = await client.query(text, [lineage]);
      return Number(rows[0].last);
    } finally {
      await client.end().catch(() => undefined);
    }
  });

type Written = { n: number | undefined; token: string; sealed?: true };

const rowOf = (
  kind: number,
  key: unknown[],
  lineage: string,
  { n = 0, token, sealed }: Written,
): ShippedRow => ({
  kind,
  key: JSON.stringify(key),
  lineage: BigInt(lineage),
  scope: null,
  a: null,
  b: null,
  c: null,
  d: null,
  at: null,
  at2: null,
  value: JSON.stringify({ n, token, sealed }),
});

type Planned = { write: Write; batch: ShippedBatch };

const batchOf = (lineage: string, rows: readonly ShippedRow[]): ShippedBatch => ({
  lineage: BigInt(lineage),
  owners: [BigInt(lineage)],
  births: [],
  releases: [],
  gone: [],
  rows,
});

/** The last number of a lineage, and the tokens of the numbers that this member has written. */
type Owned = { last: number; tokens: Map<number, string> };

const SEALED_AFTER = 2;

/** A row under the number, which is appended in half of the lineages and sealed later in the others, and its slot. */
const planWrite = (member: string, lineage: string, { last, tokens }: Owned, random: Random): Planned => {
  count += 1;
  const n = last + 1;
  const token = `${member}-${count}`;
  const isAppended = BigInt(lineage) % 2n === 0n;
  const seals = isAppended ? undefined : tokens.get(n - SEALED_AFTER);
  const kind = isAppended ? KINDS.append : KINDS.number;
  const write = { token, lineage, n, seals };
  const slot = rowOf(KINDS.slot, [lineage, n % SLOTS], lineage, write);
  const rows = [rowOf(kind, [lineage, n], lineage, write), slot];
  if (seals !== undefined) {
    const sealed = { n: n - SEALED_AFTER, token: seals, sealed: true } as const;
    rows.push(rowOf(kind, [lineage, sealed.n], lineage, sealed));
  }
  const gone = random() < REMOVALS ? [{ kind: KINDS.slot, key: slot.key }] : [];
  return { write, batch: { ...batchOf(lineage, rows), gone } };
};

const planStray = (member: string, lineage: string): Planned => {
  count += 1;
  const write = { token: `${member}-${count}`, lineage, n: undefined, seals: undefined };
  const row = rowOf(KINDS.stray, [write.token], lineage, write);
  return { write, batch: batchOf(lineage, [row]) };
};

/** Whatever a member keeps of its lineages is lost with its membership. */
const createLife = (database: Database, membership: Membership, random: Random) => {
  const { id, sink } = membership;
  const owned = new Map<string, Owned>();
  /** Lineages of the group under way: a claim would load what is about to change. */
  const underWay = new Set<string>();
  let isOver = false;
  const beats = new Map<string, { beat: number; since: number }>();
  let renewedAt = now();
  let healthySince = now();

  const lose = (why: string): void => {
    if (!isOver) print({ type: 'lost', member: id, why });
    isOver = true;
  };

  const renew = async (): Promise<void> => {
    const sent = now();
    const isKept = await membership.renew({ commons: 0, load: {} });
    if (!isKept) return lose('renewal');
    if (now() - renewedAt > ttlMs * 0.9) healthySince = now();
    renewedAt = sent;
  };

  /** Ends memberships whose beat was seen unchanged for a whole lease (cluster.md 5.4). */
  const observe = async (): Promise<void> => {
    const { members } = await database.members();
    const seen = now();
    for (const { id: other, state, beat } of members) {
      const before = beats.get(other);
      if (before?.beat !== beat) beats.set(other, { beat, since: seen });
      else if (
        other !== id &&
        state !== 'gone' &&
        Math.min(seen - before.since, seen - healthySince) > ttlMs
      ) {
        const isFenced = await database.fence({ member: other, beat, reason: `fenced by ${name}` });
        if (isFenced) print({ type: 'fenced', member: other, by: id, at: now() });
      }
    }
  };

  const claim = async (): Promise<void> => {
    const others = lineages.filter((lineage) => !owned.has(lineage) && !underWay.has(lineage));
    if (owned.size >= most || others.length === 0) return;
    const lineage = pick(random, others);
    const [claimed] = await membership.claim([BigInt(lineage)]);
    if (claimed?.owner !== id || owned.has(lineage)) return;
    const last = await lastOf(lineage);
    print({ type: 'loaded', member: id, lineage, last, at: now() });
    owned.set(lineage, { last, tokens: new Map() });
  };

  /** Failures are those of the database, and the next round tries again. */
  const often = async (ms: number, act: () => Promise<void>): Promise<void> => {
    while (!isOver && !isEnding) {
      await act().catch((error: unknown) => {
        if (String(error).includes('fenced')) lose('claim');
        healthySince = now();
      });
      await pause(ms);
    }
  };

  const planGroup = (): Planned[] => {
    const planned: Planned[] = [];
    for (let size = 1 + below(random, GROUP); size > 0 && owned.size > 0; size -= 1) {
      const [lineage, known] = pick(random, [...owned]);
      const { write, batch } = planWrite(id, lineage, known, random);
      known.last += 1;
      known.tokens.set(known.last, write.token);
      known.tokens.delete(known.last - SEALED_AFTER);
      underWay.add(lineage);
      if (random() < RELEASES) {
        owned.delete(lineage);
        planned.push({ write, batch: { ...batch, releases: [{ lineage: BigInt(lineage), due: null }] } });
      } else planned.push({ write, batch });
    }
    if (random() < STRAYS) planned.push(planStray(id, options.foreign));
    if (random() < BIRTHS) planned.push(birth());
    return planned;
  };

  const birth = (): Planned => {
    births += 1;
    const lineage = `${options.born + births}`;
    const { write, batch } = planWrite(id, lineage, { last: 0, tokens: new Map() }, random);
    print({ type: 'loaded', member: id, lineage, last: 0, at: now() });
    return { write, batch: { ...batch, births: [BigInt(lineage)] } };
  };

  const ship = async (planned: readonly Planned[]): Promise<void> => {
    const writes = planned.map(({ write }) => write);
    print({ type: 'sent', member: id, at: now(), writes });
    const results = await sink.ship(planned.map(({ batch }) => batch));
    const outcomes = results.map((outcome, index) => ({
      token: writes[index]?.token ?? '',
      ...(outcome.result === 'refused' ? { why: outcome.why } : {}),
      ...(outcome.result === 'applied' ? {} : { error: outcome.error.message }),
      result: outcome.result,
    }));
    print({ type: 'done', member: id, at: now(), outcomes, committed: membership.committed });
    for (const [index, { result, why }] of outcomes.entries()) {
      if (result === 'applied') continue;
      if (why === 'fenced' || why === 'behind') lose(why);
      // The numbers of the lineage behind a write that is not stored are taken again after a load.
      else owned.delete(writes[index]?.lineage ?? '');
    }
    underWay.clear();
  };

  const write = async (): Promise<void> => {
    while (!isOver && !isEnding) {
      const planned = planGroup();
      if (planned.length > 0) await ship(planned);
      await pause(pauseMs);
    }
  };

  return {
    async run(): Promise<void> {
      await Promise.all([
        write(),
        often(ttlMs / 3, renew),
        often(ttlMs / 5, observe),
        often(ttlMs / 12, claim),
      ]);
    },
  };
};

const random = randomFrom(options.seed);
const database = await insist(() =>
  openDatabase({
    url: options.url,
    schema: 'troupe',
    pooled: options.pooled,
    poolSize: 2,
    leaseTtlMs: ttlMs,
    durability: 'power',
    now: Date.now,
    newId: () => `${name}-${process.pid}-${Math.trunc(now())}`,
    warn: () => undefined,
    observe: () => undefined,
  }),
);

createInterface({ input: process.stdin }).once('close', () => {
  isEnding = true;
});

while (!isEnding) {
  const membership = await insist(() => database.join({ name, url: 'http://localhost', program: 'test' }));
  print({ type: 'joined', member: membership.id });
  await createLife(database, membership, random).run();
  if (isEnding) await membership.leave('left').catch(() => undefined);
  print({ type: 'ended', member: membership.id });
  membership.close();
}
database.close();
if (process.stdout.writableLength > 0) await once(process.stdout, 'drain');
