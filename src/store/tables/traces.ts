import { Integrity } from '../../schema/outcome.ts';
import { PAGE_BYTES } from '../../schema/page-rows.ts';
import type { TraceSummary } from '../../schema/trace.ts';
import { type Batch, createNoteBoard } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';
import type { Range } from '../engine/merge.ts';
import { MOST_EXAMINED, type Page, type PageOf, readPage } from '../engine/page.ts';
import type { Columns } from '../engine/sink.ts';
import type { Table } from '../engine/table.ts';

/**
 * Traces by run, their index, and their references (evals-and-traces.md 9).
 *
 * The events of one append are rows of at most 256 lines, each under the number of its last line: a page begins with
 * the row that contains its first line and reads no earlier one. A list reads the index of one filter and the heads
 * that it checks; no operation loads all traces into memory. An unreadable last row is treated as if it had not been
 * written.
 */

export type TraceHead = {
  total: number;
  /** `held`: it is not decided yet whether the trace is kept; `dropped`: it is not kept. Neither is shown. */
  state: 'held' | 'dropped' | 'open' | 'done';
  /** Summary of the trace so far. */
  summary: TraceSummary;
  /** Seconds. */
  created_at: number;
  written_at: number;
};

export type TraceFilter = {
  agent_id?: string | undefined;
  prompt_id?: string | undefined;
  experiment_id?: string | undefined;
  variant_name?: string | undefined;
  /** Milliseconds. */
  since?: number | undefined;
  limit?: number | undefined;
};

/** Client's view of a trace, and a filter in addition to that of the index. */
export type TraceRows = {
  shown(summary: TraceSummary): unknown;
  wanted(summary: TraceSummary): boolean;
  isSpent(): boolean;
};

export type TracePage = { lines: string[]; total: number };

export type TraceTable = {
  head(run_id: string): TraceHead | undefined;
  /** `total` of the head includes these lines. */
  write(batch: Batch, head: TraceHead, lines: readonly string[]): void;
  remove(batch: Batch, run_id: string): void;
  /** Ends at its limit or at `PAGE_BYTES`. @throws Integrity when a row before the last one cannot be read */
  page(run_id: string, offset: number, limit: number): TracePage;
  /** Returns the summaries of completed traces, newest first. */
  list(filter: TraceFilter): TraceSummary[];
  /** Returns a page of those that are also wanted, newest first. */
  search(filter: TraceFilter, page: Page, rows: TraceRows): PageOf<TraceSummary | undefined>;
  /** Keeps the trace as long as the reference exists. Adding the same reference again has no effect. */
  refer(batch: Batch, run_id: string, by: TraceReference): void;
  isReferred(run_id: string): boolean;
  /**
   * Returns runs whose trace is older than this, in seconds, without referenced ones, among at most `most` traces
   * after a position; without `next` those were the last.
   */
  expired(before: number, most: number, behind?: ExpiryPosition): Expired;
};

type ExpiryPosition = { list: number; key: Key | undefined };

export type Expired = { run_ids: string[]; next: ExpiryPosition | undefined };

export type TraceReference = { kind: 'pin' | 'dataset' | 'experiment'; id: string };

const MOST_IN_A_ROW = 256;

/** Lists without a filter value. */
const ALL = 'all';
const UNFINISHED = 'unfinished';
const AGED = [ALL, UNFINISHED] as const;

export const createTraceTable = (env: Environment): TraceTable => {
  const heads = env.table<TraceHead>('traces');
  const rows = env.table<string>('trace_events');
  const index = env.table<true>('trace_index');
  const references = env.table<true>('trace_references');
  /** Changes of traces by commits in progress, so that adding a reference and removing a trace see each other. */
  const written = createNoteBoard<{ head: TraceHead | undefined }>();
  const kept = createNoteBoard<true>();

  const head = (run_id: string): TraceHead | undefined => {
    const underWay = written.underWay(run_id);
    if (underWay) return underWay.head && { ...underWay.head };
    return isId(run_id) ? heads.get([run_id]) : undefined;
  };

  const isReferred = (run_id: string): boolean =>
    kept.underWay(run_id) === true || references.firstKey({ prefix: [run_id] }) !== undefined;

  return {
    head,
    isReferred,
    write(batch, after, lines) {
      const { run_id } = after.summary;
      checkId('run id', run_id);
      const before = after.total - lines.length;
      for (let from = 0; from < lines.length; from += MOST_IN_A_ROW) {
        const chunk = lines.slice(from, from + MOST_IN_A_ROW);
        rows.put(batch, [run_id, before + from + chunk.length], chunk.join('\n'));
      }
      for (const key of indexKeys(after)) index.put(batch, key, true);
      if (after.state === 'done') index.remove(batch, unfinishedKey(after));
      heads.put(batch, [run_id], after);
      written.note(batch, run_id, { head: { ...after } });
    },
    remove(batch, run_id) {
      const known = head(run_id);
      if (!known) return;
      written.note(batch, run_id, { head: undefined });
      for (const key of indexKeys(known)) index.remove(batch, key);
      rows.clear(batch, [run_id]);
      heads.remove(batch, [run_id]);
    },
    page: (run_id, offset, limit) => readLines(rows, run_id, offset, limit),
    search: (filter, page, wanted) => searchIn({ index, heads }, filter, page, wanted),
    list({ since, limit = Number.POSITIVE_INFINITY, ...filter }) {
      const found: TraceSummary[] = [];
      for (const key of index.keys({ ...rangeOf(since, filter), reverse: true })) {
        const summary = heads.get([runOf(key)])?.summary;
        if (summary && matches(summary, filter)) found.push(summary);
        if (found.length >= limit) break;
      }
      return found;
    },
    refer(batch, run_id, { kind, id }) {
      checkId('run id', run_id);
      kept.note(batch, run_id, true);
      references.put(batch, [run_id, kind, indexed(id)], true);
    },
    expired(before, most, behind = { list: 0, key: undefined }) {
      const list = AGED[behind.list];
      if (list === undefined) return { run_ids: [], next: undefined };
      const after = behind.key && { after: behind.key };
      const keys = [...index.keys({ prefix: [list], to: [before - 1], limit: most, ...after })];
      const isOld = (run_id: string): boolean =>
        list === ALL || (heads.get([run_id])?.written_at ?? 0) < before;
      const run_ids = keys.map((key) => String(key[2])).filter((id) => !isReferred(id) && isOld(id));
      return { run_ids, next: nextPlace(behind, keys, most) };
    },
  };
};

/** The columns of a shipped head. */
export const traceColumns = ({ state, summary, written_at }: TraceHead): Columns => ({
  a: summary.agent_id,
  b: summary.experiment_id ?? null,
  c: summary.variant_name ?? null,
  d: state,
  at: summary.started_at,
  at2: written_at,
});

const searchIn = (
  { index, heads }: { index: Table<true>; heads: Table<TraceHead> },
  { since, ...filter }: TraceFilter,
  page: Page,
  { shown, wanted, isSpent }: TraceRows,
): PageOf<TraceSummary | undefined> => {
  const range = rangeOf(since, filter);
  const list = { index, ranges: [range], total: index.count(range) };
  return readPage<true, TraceSummary | undefined>(
    list,
    { ...page, reverse: true },
    {
      read: (_row, key) => heads.get([runOf(key)])?.summary,
      shown: (summary) => summary && shown(summary),
      search: {
        most: MOST_EXAMINED,
        wanted: (summary) => summary !== undefined && matches(summary, filter) && wanted(summary),
        isSpent,
      },
    },
  );
};

const readLines = (rows: Table<string>, run_id: string, offset: number, limit: number): TracePage => {
  const total = countLines(rows, run_id);
  const lines: string[] = [];
  let bytes = 0;
  for (const line of linesBetween(rows, run_id, offset, Math.min(offset + limit, total))) {
    bytes += Buffer.byteLength(line);
    if (lines.length > 0 && bytes > PAGE_BYTES) break;
    lines.push(line);
  }
  return { lines, total };
};

/** Counts the lines without those of a row that was torn by a crash. */
const countLines = (rows: Table<string>, run_id: string): number => {
  const last = rows.firstKey({ prefix: [run_id], reverse: true });
  if (!last) return 0;
  if (!isTorn(rows, last)) return numberOf(last);
  const before = rows.keys({ prefix: [run_id], reverse: true, offset: 1, limit: 1 });
  return Array.from(before, numberOf)[0] ?? 0;
};

const isTorn = (rows: Table<string>, key: Key): boolean => {
  try {
    rows.get(key);
    return false;
  } catch (error) {
    if (error instanceof Integrity) return true;
    throw error;
  }
};

/** Yields the lines from `start` up to `end`, exclusive. */
function* linesBetween(rows: Table<string>, run_id: string, start: number, end: number): Iterable<string> {
  if (start >= end) return;
  for (const key of rows.keys({ prefix: [run_id], from: [start + 1] })) {
    const held = (rows.get(key) ?? '').split('\n');
    const first = numberOf(key) - held.length;
    yield* held.slice(Math.max(0, start - first), end - first);
    if (numberOf(key) >= end) return;
  }
}

/** Continues in the same list while it has more keys, else in the next one. */
const nextPlace = (
  { list }: ExpiryPosition,
  keys: readonly Key[],
  most: number,
): ExpiryPosition | undefined => {
  if (keys.length === most) return { list, key: keys.at(-1)?.slice(1) };
  return list === AGED.length - 1 ? undefined : { list: list + 1, key: undefined };
};

type Filters = Pick<TraceFilter, 'agent_id' | 'prompt_id' | 'experiment_id' | 'variant_name'>;

/** The most selective filters come first. */
const FILTERS = ['variant_name', 'experiment_id', 'prompt_id', 'agent_id'] as const;

const narrowest = (filter: Filters): Key => {
  for (const name of FILTERS) {
    const value = filter[name];
    if (value !== undefined) return [name, indexed(value)];
  }
  return [ALL];
};

const rangeOf = (since: number | undefined, filter: Filters): Range => ({
  prefix: narrowest(filter),
  ...(since !== undefined && { from: [Math.ceil(since / 1000)] }),
});

const matches = (
  summary: TraceSummary,
  { prompt_id, agent_id, experiment_id, variant_name }: Filters,
): boolean =>
  (prompt_id === undefined || summary.prompt_ids.includes(prompt_id)) &&
  (agent_id === undefined || summary.agent_id === agent_id) &&
  (experiment_id === undefined || summary.experiment_id === experiment_id) &&
  (variant_name === undefined || summary.variant_name === variant_name);

const unfinishedKey = ({ summary, created_at }: TraceHead): Key => [UNFINISHED, created_at, summary.run_id];

const indexKeys = (head: TraceHead): Key[] => {
  if (head.state !== 'done') return [unfinishedKey(head)];
  const { run_id, started_at, agent_id, prompt_ids, experiment_id, variant_name } = head.summary;
  const of = (name: string, value: string): Key => [name, indexed(value), started_at, run_id];
  return [
    [ALL, started_at, run_id],
    of('agent_id', agent_id),
    ...prompt_ids.map((id) => of('prompt_id', id)),
    ...(experiment_id === undefined ? [] : [of('experiment_id', experiment_id)]),
    ...(variant_name === undefined ? [] : [of('variant_name', variant_name)]),
  ];
};

const numberOf = (key: Key): number => Number(key[1]);
const runOf = (key: Key): string => String(key.at(-1));
