import { Integrity } from '../schema/outcome.ts';
import { PAGE_BYTES } from '../schema/page-rows.ts';
import type { TraceSummary } from '../schema/trace.ts';
import { type Batch, createNoteBoard } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, indexed, isId, type Key } from './keys.ts';

/**
 * Traces by run, their index, and who needs one (evals-and-traces.md 9).
 *
 * The events of one append are rows of at most 256 lines, each under the number of its last line: a page begins with
 * the row that holds its first line and reads no other. A list reads the index of one filter and the heads that it
 * looks at; nobody ever has all traces in memory. A last row that cannot be read is as if it had not been written.
 */

export type TraceHead = {
  total: number;
  /** `held`: nobody knows yet whether it is kept; `dropped`: it is not. Of neither is anything shown. */
  state: 'held' | 'dropped' | 'open' | 'done';
  /** Of what there is so far. */
  summary: TraceSummary;
  /** seconds */
  created_at: number;
  written_at: number;
};

export type TraceFilter = {
  agent_id?: string | undefined;
  prompt_id?: string | undefined;
  experiment_id?: string | undefined;
  variant_name?: string | undefined;
  /** milliseconds */
  since?: number | undefined;
  limit?: number | undefined;
};

export type TracePage = { lines: string[]; total: number };

export type TraceTable = {
  head(run_id: string): TraceHead | undefined;
  /** `total` of the head is that after these lines. */
  write(batch: Batch, head: TraceHead, lines: readonly string[]): void;
  remove(batch: Batch, run_id: string): void;
  /** Ends at its limit or at `PAGE_BYTES`. @throws Integrity when a row in the middle cannot be read */
  page(run_id: string, offset: number, limit: number): TracePage;
  /** Those that are done, the newest first. */
  list(filter: TraceFilter): TraceSummary[];
  /** The trace stays as long as there is a reference. The same one again is the same. */
  refer(batch: Batch, run_id: string, by: TraceReference): void;
  isReferred(run_id: string): boolean;
  /**
   * Runs whose trace is older than this, in seconds, without those that somebody refers to, among the traces behind a
   * place. Looks at no more than `most` of them; without `next` those were the last.
   */
  expired(before: number, most: number, behind?: ExpiryPlace): Expired;
};

type ExpiryPlace = { list: number; key: Key | undefined };

export type Expired = { run_ids: string[]; next: ExpiryPlace | undefined };

export type TraceReference = { kind: 'pin' | 'dataset' | 'experiment'; id: string };

const MOST_IN_A_ROW = 256;

/** Lists that have no value to look for. */
const ALL = 'all';
const UNFINISHED = 'unfinished';
const AGED = [ALL, UNFINISHED] as const;

export const createTraceTable = (env: Environment): TraceTable => {
  const heads = env.table<TraceHead>('traces');
  const rows = env.table<string>('trace_events');
  const index = env.table<true>('trace_index');
  const references = env.table<true>('trace_references');
  /** What commits under way make of a trace: who keeps one and who removes it must not pass each other. */
  const written = createNoteBoard<{ head: TraceHead | undefined }>();
  const kept = createNoteBoard<true>();

  const head = (run_id: string): TraceHead | undefined => {
    const underWay = written.underWay(run_id);
    if (underWay) return underWay.head && { ...underWay.head };
    return isId(run_id) ? heads.get([run_id]) : undefined;
  };

  const isReferred = (run_id: string): boolean =>
    kept.underWay(run_id) === true || references.firstKey({ prefix: [run_id] }) !== undefined;

  /** Undefined for the row that a crash has torn. */
  const linesOf = (key: Key, isLast: boolean): string[] | undefined => {
    try {
      return (rows.get(key) ?? '').split('\n');
    } catch (error) {
      if (isLast && error instanceof Integrity) return undefined;
      throw error;
    }
  };

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
    page(run_id, offset, limit) {
      const last = rows.firstKey({ prefix: [run_id], reverse: true });
      if (!last) return { lines: [], total: 0 };
      const isTorn = linesOf(last, true) === undefined;
      const before = isTorn ? rows.keys({ prefix: [run_id], reverse: true, offset: 1, limit: 1 }) : [last];
      const total = Array.from(before, numberOf)[0] ?? 0;
      const lines: string[] = [];
      if (offset >= total) return { lines, total };
      let bytes = 0;
      for (const key of rows.keys({ prefix: [run_id], from: [offset + 1], to: [total] })) {
        const held = linesOf(key, false) ?? [];
        const first = numberOf(key) - held.length;
        for (const line of held.slice(Math.max(0, offset - first), offset + limit - first)) {
          bytes += Buffer.byteLength(line);
          if (lines.length > 0 && bytes > PAGE_BYTES) return { lines, total };
          lines.push(line);
        }
        if (lines.length >= limit) break;
      }
      return { lines, total };
    },
    list({ since, limit = Number.POSITIVE_INFINITY, ...filter }) {
      const found: TraceSummary[] = [];
      const from = since === undefined ? undefined : [Math.ceil(since / 1000)];
      for (const key of index.keys({ prefix: narrowest(filter), ...(from && { from }), reverse: true })) {
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
      const isWhole = keys.length < most;
      if (isWhole && behind.list === AGED.length - 1) return { run_ids, next: undefined };
      return {
        run_ids,
        next: isWhole ? { list: behind.list + 1, key: undefined } : { ...behind, key: keys.at(-1)?.slice(1) },
      };
    },
  };
};

type Filters = Pick<TraceFilter, 'agent_id' | 'prompt_id' | 'experiment_id' | 'variant_name'>;

/** Those that say most of a trace come first. */
const FILTERS = ['variant_name', 'experiment_id', 'prompt_id', 'agent_id'] as const;

const narrowest = (filter: Filters): Key => {
  for (const name of FILTERS) {
    const value = filter[name];
    if (value !== undefined) return [name, indexed(value)];
  }
  return [ALL];
};

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
