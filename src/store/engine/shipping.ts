import { Conflict, Integrity, type Outcome, Unavailable } from '../../schema/outcome.ts';
import type { Batch, Rows, ShippedValue, Write } from './batch.ts';
import { reasonOf } from './folder.ts';
import { isSameKey, type Key } from './keys.ts';
import { COMMONS } from './lineage.ts';
import type { ShippedBatch, ShippedRow, Sink, SinkOutcome } from './sink.ts';
import { keysUnder } from './table.ts';

/**
 * Turns the batches of a group into rows of a database.
 *
 * Guarantees: a batch contains its net writes, each row at most once with its last value, and nothing for a row that it
 * added and removed. Its removals include rows of earlier batches of the group, so that each batch can be sent alone.
 * Relies on the folder having all earlier groups, and on no transaction during a call.
 * Cost: a search of the folder for each cleared prefix, in addition to that of the transaction.
 */

/** One write, or the clearing of one prefix. A group has at least one batch, however large. */
export const MOST_WRITES = 4000;
/** Length of the texts of a group, in UTF-16 code units. */
export const MOST_TEXT = 8 * 2 ** 20;

/** The sink of a store, and the parts of its tables in the database. */
export type Shipping = {
  readonly sink: Sink;
  /** Returns the number and the home of a shipped table; undefined for tables that are not shipped. */
  kindOf(rows: Rows): { number: number; home: 'batch' | 'commons' | 'member' } | undefined;
  /** Null for a batch of rows of this member. */
  lineageOf(batch: Batch): bigint | null;
  /** The folder took no write behind a commit that the database has. */
  copyBroken(error: Unavailable): void;
};

/** Returns how many of the batches form the next group. */
export const countGroup = (batches: readonly Batch[]): number => {
  let writes = 0;
  let text = 0;
  let count = 0;
  for (const batch of batches) {
    writes += batch.writes.length;
    for (const write of batch.writes) if ('shipped' in write) text += write.shipped?.text.length ?? 0;
    if (count > 0 && (writes > MOST_WRITES || text > MOST_TEXT)) break;
    count += 1;
  }
  return count;
};

export const shippedBatches = (shipping: Shipping, batches: readonly Batch[]): ShippedBatch[] => {
  const earlier: Changes[] = [];
  return batches.map((batch) => {
    const changes: Changes = new Map();
    for (const write of batch.writes) {
      if (!shipping.kindOf(write.rows)) continue;
      const table = changes.get(write.rows) ?? new Map<string, Change>();
      changes.set(write.rows, table);
      if (write.kind === 'clear') clear(table, earlier, write);
      else change(table, write);
    }
    earlier.push(changes);
    return shippedBatch(shipping, shipping.lineageOf(batch), changes);
  });
};

/** `isNew`: the row exists nowhere before the batch. */
type Change = { key: Key; value: ShippedValue | undefined; isGone: boolean; isNew: boolean };
type Changes = Map<Rows, Map<string, Change>>;

/** The parts of a key have no control characters. */
const nameOf = (key: Key): string => key.join('\0');

const change = (table: Map<string, Change>, write: Exclude<Write, { kind: 'clear' }>): void => {
  const name = nameOf(write.key);
  const known = table.get(name);
  if (write.kind === 'remove') {
    if (known) remove(table, name, known);
    else table.set(name, { key: write.key, value: undefined, isGone: true, isNew: false });
    return;
  }
  if (known) known.value = write.shipped;
  else table.set(name, { key: write.key, value: write.shipped, isGone: false, isNew: write.kind === 'add' });
};

const remove = (table: Map<string, Change>, name: string, known: Change): void => {
  if (known.isNew) {
    table.delete(name);
    return;
  }
  known.value = undefined;
  known.isGone = true;
};

const clear = (
  table: Map<string, Change>,
  earlier: readonly Changes[],
  { rows, key: prefix }: Pick<Write, 'rows' | 'key'>,
): void => {
  for (const [name, known] of table) if (isBelow(known.key, prefix)) remove(table, name, known);
  const removeRow = (key: Key): void => change(table, { kind: 'remove', rows, key });
  for (const changes of earlier)
    for (const { key, value } of changes.get(rows)?.values() ?? [])
      if (value && isBelow(key, prefix)) removeRow(key);
  for (const key of keysUnder(rows, prefix)) removeRow(key);
};

const isBelow = (key: Key, prefix: Key): boolean => isSameKey(key.slice(0, prefix.length), prefix);

const shippedBatch = (shipping: Shipping, lineage: bigint | null, changes: Changes): ShippedBatch => {
  const gone: { kind: number; key: string }[] = [];
  const rows: ShippedRow[] = [];
  for (const [table, changed] of changes) {
    const kind = shipping.kindOf(table);
    if (!kind) continue;
    const home = { batch: lineage, commons: COMMONS, member: null }[kind.home];
    for (const { key, value, isGone } of changed.values()) {
      const text = JSON.stringify(key);
      if (isGone) gone.push({ kind: kind.number, key: text });
      if (value) rows.push(shippedRow({ kind: kind.number, key: text, lineage: home }, value));
    }
  }
  // While one member is active, it owns the commons and with them everything.
  return { lineage, owners: [COMMONS], births: [], releases: [], gone, rows };
};

export const shippedRow = (
  place: Pick<ShippedRow, 'kind' | 'key' | 'lineage'>,
  { text, columns }: ShippedValue,
): ShippedRow => ({
  ...place,
  scope: columns.scope ?? null,
  a: columns.a ?? null,
  b: columns.b ?? null,
  c: columns.c ?? null,
  d: columns.d ?? null,
  at: whole(columns.at),
  at2: whole(columns.at2),
  value: text,
});

const whole = (number: number | null | undefined): number | null =>
  number === null || number === undefined ? null : Math.floor(number);

type Refused = Extract<SinkOutcome, { result: 'refused' }>;

/** Whether nothing that follows can be stored: the member has lost its place, or its sink is closed. */
export const isLost = ({ why }: Refused): boolean =>
  why === 'fenced' || why === 'behind' || why === 'abandoned';

/** Whether the batch alone is at fault. */
export const isOfBatch = ({ why }: Refused): boolean =>
  why === 'not-owner' || why === 'clash' || why === 'invalid';

/** Returns the error that callers of a refused batch receive. */
export const refusalOf = ({ why, error }: Refused): Outcome => REFUSALS[why](error);

const REFUSALS: Record<Refused['why'], (cause: Error) => Outcome> = {
  fenced: (cause) =>
    new Unavailable('this member has lost its place, and another one may have its work; try again', {
      cause,
    }),
  behind: (cause) =>
    new Unavailable(
      'the database does not have the last commits of this member, so nothing is stored on top of them; try again',
      { cause },
    ),
  abandoned: (cause) =>
    new Unavailable('this member stops, and whether the database has the change is not known', { cause }),
  unwritable: (cause) =>
    new Unavailable(`the database cannot be written (${reasonOf(cause)}); try again`, { cause }),
  'not-owner': (cause) => new Unavailable('another member has this thread; try again', { cause }),
  // The reasons may quote rows.
  clash: (cause) => new Conflict('another request has stored something with this id', { cause }),
  invalid: (cause) => new Integrity('the database rejects a row of this change', { cause }),
};

/** The database has a commit that the copy could not take. */
export const copyBroken = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `the copy in '${dir}' cannot be written (${reasonOf(cause)}), and the database has the commit: this member has to join again`,
    { cause },
  );
