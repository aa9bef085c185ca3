import { existsSync } from 'node:fs';
import type { Rows } from './engine/batch.ts';
import { BLOBS, blobPath, blobsIn } from './engine/blob-folder.ts';
import type { Environment } from './engine/environment.ts';
import type { Key } from './engine/keys.ts';
import { shippedRow } from './engine/shipping.ts';
import type { ShippedRow } from './engine/sink.ts';
import { SHIPPED, type ShippedKind } from './kinds.ts';
import { createRowLineages, type RowLineages } from './row-lineages.ts';
import { BLOB_PARTS, PART_BYTES, partsIn, partText } from './tables/blob-parts.ts';
import { linkKeyIn } from './tables/files.ts';
import { LINKS, STORE_KEYS } from './tables/store-keys.ts';

/**
 * Reads a folder as the rows of a database, in the order of kinds and keys.
 *
 * Relies on no commit before the last page. Cost: memory for one page.
 */

export type RowPlace = { kind: number; key: Key };
export type ExportedPage = { rows: ShippedRow[]; last: RowPlace };

/** The rows of a page, and the length of their values from which on a page has no further row. */
const PAGE_ROWS = 1000;
const PAGE_TEXT = 4 * 2 ** 20;
/** Rows that are decoded at once. */
const READ_ROWS = 100;

/** @param after continues behind this row */
export function* exportRows(env: Environment, dir: string, after?: RowPlace): Generator<ExportedPage, void> {
  const lineages = createRowLineages(env);
  for (const kind of SHIPPED) {
    if (after && kind.number < after.kind) continue;
    const start = after?.kind === kind.number ? after.key : undefined;
    yield* pagesOf(kind, readKind(env, { kind, dir, lineages }, start));
  }
}

type Entry = { key: Key; row: ShippedRow };

function* pagesOf(kind: ShippedKind, entries: Iterable<Entry>): Generator<ExportedPage, void> {
  let rows: ShippedRow[] = [];
  let text = 0;
  let key: Key = [];
  for (const entry of entries) {
    rows.push(entry.row);
    text += entry.row.value.length;
    key = entry.key;
    if (rows.length < PAGE_ROWS && text < PAGE_TEXT) continue;
    yield { rows, last: { kind: kind.number, key } };
    [rows, text] = [[], 0];
  }
  if (rows.length > 0) yield { rows, last: { kind: kind.number, key } };
}

type Source = { kind: ShippedKind; dir: string; lineages: RowLineages };

const readKind = (env: Environment, source: Source, after: Key | undefined): Iterable<Entry> => {
  if (source.kind.table === BLOB_PARTS) return readParts(env, source, after);
  if (source.kind.table === STORE_KEYS) return after ? [] : readKeys(env.rows('meta'), source);
  return readTable(env, source, after);
};

function* readTable(env: Environment, source: Source, after: Key | undefined): Generator<Entry> {
  const { kind } = source;
  const table = env.table<unknown>(kind.table);
  let start = after;
  for (;;) {
    const span = { prefix: [], limit: READ_ROWS, ...(start && { after: start }) };
    // No cursor is open while a page is in use.
    const entries = [...table.entries(span)];
    for (const { key, value } of entries)
      yield { key, row: rowOf(source, key, value, JSON.stringify(value)) };
    start = entries.at(-1)?.key;
    if (!start) return;
  }
}

const rowOf = ({ kind, lineages }: Source, key: Key, value: unknown, text: string): ShippedRow =>
  shippedRow(
    { kind: kind.number, key: JSON.stringify(key), lineage: lineages.of(kind, key, value) },
    { text, columns: kind.columns(value, key) },
  );

/** Contents that a file names. */
function* readParts(env: Environment, source: Source, after: Key | undefined): Generator<Entry> {
  const named = env.table<true>(BLOBS);
  const blobs = blobsIn(source.dir);
  const first = after ? String(after[0]) : undefined;
  for (let key = named.firstKey({ prefix: [] }); key; key = named.firstKeyBehind([String(key[0])])) {
    const sha256 = String(key[0]);
    if (first !== undefined && sha256 < first) continue;
    // A missing content is a finding of `troupe doctor`.
    if (!existsSync(blobPath(blobs, sha256))) continue;
    const from = sha256 === first ? Number(after?.[1]) + 1 : 0;
    for (const { index, bytes } of partsIn(blobs, sha256, from)) {
      const at = [sha256, index];
      yield { key: at, row: rowOf(source, at, bytes.byteLength, partText(bytes)) };
      if (bytes.byteLength < PART_BYTES) break;
    }
  }
}

function* readKeys(meta: Rows, source: Source): Generator<Entry> {
  const key = linkKeyIn(meta);
  if (key !== undefined) yield { key: LINKS, row: rowOf(source, LINKS, key, JSON.stringify(key)) };
}
