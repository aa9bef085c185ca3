import { closePrivate, createEnvironment, type Environment, openRoot } from './engine/environment.ts';
import type { Key } from './engine/keys.ts';
import { shippedRow } from './engine/shipping.ts';
import type { ShippedRow } from './engine/sink.ts';
import { SHIPPED, type ShippedKind } from './kinds.ts';
import type { Note } from './repair/doctor-tables.ts';
import { createRowLineages } from './row-lineages.ts';
import { eventsIn, type StoredEvents } from './tables/stored-events.ts';

/** Checks the rows of a database against a folder that was filled from them. */

/** Derived rows that are shipped: a load derives those that are missing. */
const DERIVED_KINDS: readonly string[] = ['open_work', 'thread_expiries'];

/** Rows of these are written with the configuration or with a thread, whose lineage the row does not show. */
const OF_ANY: readonly string[] = ['traces', 'trace_events', 'trace_references'];

/** @param pages the same rows once more @returns their number */
export const examineRows = async (
  dir: string,
  pages: AsyncIterable<readonly ShippedRow[]>,
  note: Note,
): Promise<number> => {
  const root = openRoot(dir);
  try {
    const env = createEnvironment(root);
    const check = createRowCheck(env, note);
    let count = 0;
    for await (const page of pages) {
      for (const row of page) check.add(row);
      count += page.length;
    }
    check.end();
    checkSequences(env, note);
    return count;
  } finally {
    await closePrivate(root);
  }
};

const createRowCheck = (env: Environment, note: Note) => {
  const kinds = new Map(SHIPPED.map((kind) => [kind.number, kind]));
  const lineages = createRowLineages(env);
  const counts = new Map<string, number>();

  const compare = (kind: ShippedKind, row: ShippedRow, key: Key, value: unknown): void => {
    const lineage = lineages.of(kind, key, value);
    const at = { kind: row.kind, key: row.key, lineage };
    const expected = shippedRow(at, { text: row.value, columns: kind.columns(value, key) });
    if (COLUMNS.some((name) => expected[name] !== row[name]))
      note('columns that differ from the value of the row', kind.table, key);
    if (lineage !== row.lineage && !OF_ANY.includes(kind.table))
      note('a row of another lineage than that of its thread', kind.table, key);
  };

  return {
    add(row: ShippedRow): void {
      const kind = kinds.get(row.kind);
      const value: unknown = JSON.parse(row.value);
      if (!kind || value === null) return;
      counts.set(kind.table, (counts.get(kind.table) ?? 0) + 1);
      compare(kind, row, JSON.parse(row.key), value);
    },
    end(): void {
      for (const name of DERIVED_KINDS) {
        const missing = env.table(name).count({ prefix: [] }) - (counts.get(name) ?? 0);
        if (missing > 0) note('records without their rows', name, [missing]);
      }
    },
  };
};

const COLUMNS = ['scope', 'a', 'b', 'c', 'd', 'at', 'at2'] as const;

/** Old events are removed from the beginning of their log, never between others. */
const checkSequences = (env: Environment, note: Note): void => {
  let last: { log: string; seq: number } | undefined;
  const follow = (table: string, key: Key, from: number, to: number): void => {
    const log = JSON.stringify([table, key[0], key[1]]);
    if (last?.log === log && from !== last.seq + 1) note('a gap in the sequence numbers', table, key);
    last = { log, seq: to };
  };
  for (const key of env.table('messages').keys({ prefix: [] }))
    follow('messages', key, Number(key[2]), Number(key[2]));
  for (const { key, value } of env.table<StoredEvents>('events').entries({ prefix: [] }))
    follow('events', key, Number(key[2]) - eventsIn(value).length + 1, Number(key[2]));
};
