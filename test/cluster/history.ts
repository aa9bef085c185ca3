/**
 * The attempts of the members of a cluster with their outcomes, compared with the rows of the database.
 *
 * Relies on monotonic times of one host, and on writes that each have a token that no other write has. Each write has a
 * number of its lineage, under which it stores a row, and a slot, whose row it overwrites: the row of a slot is that of
 * the highest number that is stored. Later it may replace the row of its number with a sealed one, which no later
 * write touches.
 */

export const SLOTS = 4;

/** A write as a member reports it, before it is sent. */
export type Write = {
  token: string;
  lineage: string;
  /** Greater by 1 than the last number of the lineage; undefined for a write to a lineage that the member does not own. */
  n: number | undefined;
  /** The token of an earlier number of the lineage, whose row this write replaces with a sealed one. */
  seals: string | undefined;
};

/** Lines of a member, in their order. `at`: monotonic time in ms. */
export type Line =
  | { type: 'joined'; member: string }
  | { type: 'loaded'; member: string; lineage: string; last: number; at: number }
  | { type: 'sent'; member: string; at: number; writes: Write[] }
  | { type: 'done'; member: string; at: number; outcomes: Outcome[]; committed: number }
  | { type: 'fenced'; member: string; by: string; at: number }
  | { type: 'lost'; member: string; why: string }
  | { type: 'ended'; member: string };

export type Outcome = { token: string; result: string; why?: string; error?: string };

/** A row of the database. `token` and `n` are parts of its value. */
export type StoredRow = {
  lineage: string;
  what: 'number' | 'slot' | 'stray';
  n: number;
  token: string;
  isSealed: boolean;
};

export type Stored = {
  rows: readonly StoredRow[];
  /** The numbers of the chain of each member, ascending. */
  chains: ReadonlyMap<string, readonly number[]>;
};

type Attempt = Write & { member: string; at: number; outcome: Outcome | undefined };

export type Counts = {
  attempts: number;
  acknowledged: number;
  refused: number;
  open: number;
  lives: number;
  fenced: number;
  takeovers: number;
};

export type History = {
  add(line: Line): void;
  /** The number of acknowledged writes. */
  acknowledged(): number;
  counts(): Counts;
  /** Whether the member has reported such a line, or another member has reported it of this one. */
  has(type: Line['type'], member: string): boolean;
  /**
   * Returns the violations. Members that ended by a kill may leave writes without an outcome; all others may not.
   *
   * @param killed ids of members that were killed
   */
  check(stored: Stored, killed: ReadonlySet<string>): string[];
};

export const createHistory = (): History => {
  const attempts = new Map<string, Attempt>();
  const loads: Extract<Line, { type: 'loaded' }>[] = [];
  const fences = new Map<string, { at: number; by: string }>();
  const committed = new Map<string, number>();
  const reported = new Set<string>();
  const unexpected: string[] = [];
  const seen = { acknowledged: 0, refused: 0, lives: 0 };

  const settle = (member: string, outcome: Outcome): void => {
    const attempt = attempts.get(outcome.token);
    if (attempt === undefined)
      return void unexpected.push(`${outcome.token} was not sent and has an outcome`);
    if (attempt.outcome) unexpected.push(`${outcome.token} has two outcomes`);
    attempt.outcome = outcome;
    if (outcome.result === 'applied') seen.acknowledged += 1;
    if (outcome.result === 'refused' && outcome.why !== 'abandoned') seen.refused += 1;
    if (isSurprising(attempt, outcome))
      unexpected.push(`${outcome.token} of ${member}: ${outcome.result}, ${outcome.why}: ${outcome.error}`);
  };

  const add = (line: Line): void => {
    reported.add(`${line.type} ${line.member}`);
    if (line.type === 'joined') {
      seen.lives += 1;
      committed.set(line.member, 0);
    } else if (line.type === 'loaded') loads.push(line);
    else if (line.type === 'sent')
      for (const write of line.writes)
        attempts.set(write.token, { ...write, member: line.member, at: line.at, outcome: undefined });
    else if (line.type === 'done') {
      committed.set(line.member, line.committed);
      for (const outcome of line.outcomes) settle(line.member, outcome);
    } else if (line.type === 'fenced') fences.set(line.member, { at: line.at, by: line.by });
  };

  return {
    add,
    acknowledged: () => seen.acknowledged,
    has: (type, member) => reported.has(`${type} ${member}`),
    counts: () => ({
      attempts: attempts.size,
      acknowledged: seen.acknowledged,
      refused: seen.refused,
      open: [...attempts.values()].filter(isOpen).length,
      lives: seen.lives,
      fenced: fences.size,
      takeovers: takeoversIn(loads),
    }),
    check: (stored, killed) => [
      ...unexpected,
      ...checkAttempts([...attempts.values()], stored.rows, killed),
      ...checkRows(attempts, stored.rows),
      ...checkZombies([...attempts.values()], stored.rows, fences),
      ...checkAuthors(attempts, stored.rows, loads),
      ...checkChains(stored.chains, committed),
    ],
  };
};

/** Outcomes that no nemesis explains. */
const isSurprising = ({ n }: Attempt, { result, why }: Outcome): boolean =>
  result === 'refused' && (why === 'clash' || why === 'invalid' || (why === 'not-owner' && n !== undefined));

const isOpen = ({ outcome }: Attempt): boolean => outcome === undefined || outcome.why === 'abandoned';

const keyOf = ({ lineage, n }: { lineage: string; n: number | undefined }): string => `${lineage}:${n}`;

const numbersIn = (rows: readonly StoredRow[]): StoredRow[] => rows.filter(({ what }) => what === 'number');

const takeoversIn = (loads: readonly { lineage: string; member: string }[]): number => {
  const owners = new Map<string, string>();
  let count = 0;
  for (const { lineage, member } of loads) {
    const before = owners.get(lineage);
    if (before !== undefined && before !== member) count += 1;
    owners.set(lineage, member);
  }
  return count;
};

/** Every acknowledged write is stored, no refused one is, and every other one is settled unless its member was killed. */
const checkAttempts = (
  attempts: readonly Attempt[],
  rows: readonly StoredRow[],
  killed: ReadonlySet<string>,
): string[] => {
  const numbers = new Map(numbersIn(rows).map((row) => [keyOf(row), row]));
  const tokens = new Set(rows.map(({ token }) => token));
  const promised = new Map<string, string>();
  const found: string[] = [];
  for (const attempt of attempts) {
    const { token, member, outcome } = attempt;
    if (isOpen(attempt)) {
      if (!killed.has(member)) found.push(`unsettled: ${token} of ${member}`);
    } else if (outcome?.result === 'refused') {
      if (tokens.has(token)) found.push(`refused and stored: ${token} (${outcome.why})`);
    } else if (attempt.n === undefined) found.push(`applied to a lineage of another member: ${token}`);
    else {
      const key = keyOf(attempt);
      const other = promised.get(key);
      if (other !== undefined) found.push(`two authors of ${key}: ${other} and ${token}`);
      promised.set(key, token);
      const row = numbers.get(key);
      if (row === undefined) found.push(`lost: ${token} at ${key}`);
      else if (row.token !== token) found.push(`overwritten: ${token} at ${key} by ${row.token}`);
    }
  }
  return found;
};

/** Rows come from attempts, once each; numbers are dense; slots are those of their highest number. */
const checkRows = (attempts: ReadonlyMap<string, Attempt>, rows: readonly StoredRow[]): string[] => {
  const found: string[] = [];
  const numbers = numbersIn(rows);
  const keys = new Map<string, string>();
  const last = new Map<string, number>();
  const slots = new Map<string, StoredRow>();
  const sealed = new Set(numbers.flatMap(({ token }) => attempts.get(token)?.seals ?? []));
  for (const row of rows)
    if (!attempts.has(row.token)) found.push(`of no attempt: ${row.token} at ${keyOf(row)}`);
  for (const row of numbers) {
    const before = keys.get(row.token);
    if (before !== undefined) found.push(`doubled: ${row.token} at ${before} and ${keyOf(row)}`);
    keys.set(row.token, keyOf(row));
    if (row.isSealed !== sealed.has(row.token))
      found.push(`late: ${row.token} at ${keyOf(row)} is ${row.isSealed ? 'sealed' : 'not sealed any more'}`);
    last.set(row.lineage, Math.max(last.get(row.lineage) ?? 0, row.n));
    const slot = slots.get(slotOf(row));
    if (slot === undefined || slot.n < row.n) slots.set(slotOf(row), row);
  }
  for (const [lineage, n] of last) {
    const count = numbers.filter((row) => row.lineage === lineage).length;
    if (count !== n) found.push(`not dense: lineage ${lineage} has ${count} rows up to ${n}`);
  }
  const stored = new Map(rows.filter(({ what }) => what === 'slot').map((row) => [slotOf(row), row]));
  for (const [slot, { n, token }] of slots) {
    const row = stored.get(slot);
    if (row?.token !== token)
      found.push(`late: slot ${slot} has ${row?.token} (${row?.n}), not ${token} (${n})`);
  }
  for (const slot of stored.keys()) if (!slots.has(slot)) found.push(`torn: slot ${slot} without its number`);
  return found;
};

const slotOf = ({ lineage, n }: StoredRow): string => `${lineage}:${n % SLOTS}`;

/** A write that was sent after another member had fenced its author is neither acknowledged nor stored. */
const checkZombies = (
  attempts: readonly Attempt[],
  rows: readonly StoredRow[],
  fences: ReadonlyMap<string, { at: number; by: string }>,
): string[] => {
  const tokens = new Set(rows.map(({ token }) => token));
  return attempts.flatMap(({ token, member, at, outcome }) => {
    const fence = fences.get(member);
    if (fence === undefined || at <= fence.at) return [];
    const kept = outcome?.result === 'applied' || tokens.has(token);
    return kept ? [`zombie: ${token} was sent ${at - fence.at} ms after ${fence.by} fenced ${member}`] : [];
  });
};

/** Where the author of the numbers of a lineage changes, the next one had loaded exactly what was stored before. */
const checkAuthors = (
  attempts: ReadonlyMap<string, Attempt>,
  rows: readonly StoredRow[],
  loads: readonly { member: string; lineage: string; last: number }[],
): string[] => {
  const loaded = new Set(loads.map(({ member, lineage, last }) => `${member} ${lineage}:${last}`));
  const authors = new Map<string, { author: string; n: number }>();
  const found: string[] = [];
  for (const row of numbersIn(rows).sort((a, b) => a.n - b.n)) {
    const author = attempts.get(row.token)?.member ?? 'unknown';
    const before = authors.get(row.lineage);
    if (before?.author !== author && !loaded.has(`${author} ${row.lineage}:${row.n - 1}`))
      found.push(
        `reordered: ${author} wrote ${keyOf(row)} without having loaded ${before?.author}’s ${row.n - 1}`,
      );
    authors.set(row.lineage, { author, n: row.n });
  }
  return found;
};

const checkChains = (
  chains: ReadonlyMap<string, readonly number[]>,
  committed: ReadonlyMap<string, number>,
): string[] => {
  const found: string[] = [];
  for (const [member, numbers] of chains) {
    const [first = 0] = numbers;
    const last = numbers.at(-1) ?? 0;
    if (last - first + 1 !== numbers.length)
      found.push(`chain: ${member} has ${numbers.length} numbers from ${first} to ${last}`);
    const known = committed.get(member) ?? 0;
    if (last < known) found.push(`chain: ${member} ends at ${last}, and ${known} was applied`);
  }
  return found;
};
