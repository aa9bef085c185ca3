import { createHash } from 'node:crypto';
import type { ShippedRow } from '../store/engine/sink.ts';

/**
 * A count and a digest for each kind of rows, regardless of their order. Values are equal if they are the same JSON,
 * whatever the order of their fields.
 */
export type Digests = Map<number, { count: number; sum: bigint }>;

export type Digesting = { add(rows: readonly ShippedRow[]): void; readonly digests: Digests };

export const createDigesting = (): Digesting => {
  const digests: Digests = new Map();
  return {
    digests,
    add(rows) {
      for (const { kind, key, value } of rows) {
        const parsed: unknown = JSON.parse(value);
        // A removed row of the configuration, which a folder does not have.
        if (parsed === null) continue;
        const found = digests.get(kind) ?? { count: 0, sum: 0n };
        found.count += 1;
        found.sum = BigInt.asUintN(128, found.sum + digestOf(`${key}\n${JSON.stringify(sorted(parsed))}`));
        digests.set(kind, found);
      }
    },
  };
};

const digestOf = (text: string): bigint => {
  const hash = createHash('sha256').update(text).digest();
  return (hash.readBigUInt64BE(0) << 64n) | hash.readBigUInt64BE(8);
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // Pairs, since an object would reorder fields that look like numbers.
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, part]) => [name, sorted(part)]);
};

export type Difference = { kind: number; from: number; to: number };

/** Returns the kinds whose rows differ, with their counts. */
export const differencesOf = (from: Digests, to: Digests): Difference[] =>
  [...new Set([...from.keys(), ...to.keys()])]
    .filter(
      (kind) => from.get(kind)?.count !== to.get(kind)?.count || from.get(kind)?.sum !== to.get(kind)?.sum,
    )
    .toSorted((a, b) => a - b)
    .map((kind) => ({ kind, from: from.get(kind)?.count ?? 0, to: to.get(kind)?.count ?? 0 }));
