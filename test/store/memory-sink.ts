import assert from 'node:assert/strict';
import type { ShippedBatch, ShippedRow, Sink, SinkOutcome } from '../../src/store/engine/sink.ts';
import { SHIPPED } from '../../src/store/kinds.ts';

/**
 * A database in memory, with the rules of the statement of PostgreSQL: a second row of an append kind, and a row of
 * another lineage, are refused, and with a refused batch the later ones of its lineage.
 */
export type MemorySink = Sink & {
  /** Since the opening of the copy. */
  readonly groups: (readonly ShippedBatch[])[];
  /** Called for each batch; a returned outcome is that of the batch. */
  decide(batch: ShippedBatch): SinkOutcome | undefined;
  /** Awaited before each group. */
  gate(): Promise<void>;
  all(): ShippedRow[];
  /** Yields all rows, the last ones first, so that nothing can depend on the order. */
  pages(size?: number): AsyncIterable<ShippedRow[]>;
};

const APPENDED = new Set(SHIPPED.filter(({ isAppended }) => isAppended).map(({ number }) => number));

const OF_BATCH: readonly string[] = ['not-owner', 'clash', 'invalid'];

const APPLIED: SinkOutcome = { result: 'applied' };

export const createMemorySink = (): MemorySink => {
  const rows = new Map<string, ShippedRow>();

  const apply = ({ gone, rows: added }: ShippedBatch): SinkOutcome => {
    const after = new Map<string, ShippedRow | undefined>();
    for (const { kind, key } of gone) after.set(`${kind} ${key}`, undefined);
    for (const row of added) {
      const name = `${row.kind} ${row.key}`;
      const before = after.has(name) ? after.get(name) : rows.get(name);
      if (before && (before.lineage !== row.lineage || APPENDED.has(row.kind)))
        return { result: 'refused', why: 'clash', error: new Error(`clash of ${name}`) };
      after.set(name, row);
    }
    for (const [name, row] of after)
      if (row) rows.set(name, row);
      else rows.delete(name);
    return APPLIED;
  };

  const sink: MemorySink = {
    groups: [],
    decide: () => undefined,
    gate: () => Promise.resolve(),
    async ship(group) {
      for (const batch of group) checkBatch(batch);
      sink.groups.push(group);
      await sink.gate();
      const refused = new Map<bigint | null, SinkOutcome>();
      let all: SinkOutcome | undefined;
      return group.map((batch) => {
        const outcome = all ?? refused.get(batch.lineage) ?? sink.decide(batch) ?? apply(batch);
        if (outcome.result === 'refused') refused.set(batch.lineage, outcome);
        if (outcome.result === 'refused' && !OF_BATCH.includes(outcome.why)) all = outcome;
        return outcome;
      });
    },
    all: () => [...rows.values()],
    async *pages(size = 100) {
      const all = sink.all().reverse();
      for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
    },
  };
  return sink;
};

const TEXTS = ['key', 'scope', 'a', 'b', 'c', 'd', 'value'] as const;

/** Every row stands once in a batch, and PostgreSQL can store it: text in UTF-8 without zeros, and whole numbers. */
const checkBatch = ({ rows, gone }: ShippedBatch): void => {
  for (const list of [rows, gone]) {
    const names = new Set(list.map(({ kind, key }) => `${kind} ${key}`));
    assert.equal(names.size, list.length, 'each row stands once in a batch');
  }
  for (const row of rows) {
    for (const name of TEXTS) {
      const text = row[name] ?? '';
      assert.equal(Buffer.from(text).toString(), text, `${name} of kind ${row.kind} is UTF-8`);
      assert.ok(!text.includes('\0'), `${name} of kind ${row.kind} has no zero`);
    }
    for (const number of [row.at, row.at2]) assert.ok(number === null || Number.isSafeInteger(number));
  }
};
