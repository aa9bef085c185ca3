import type { EvalItem, EvalMode, EvalStatus } from '../../schema/eval-run.ts';
import { Integrity } from '../../schema/outcome.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';

/**
 * Eval runs, their items, and the remaining work of unfinished ones (evals-and-traces.md 6).
 *
 * An item is a separate row, under its position in the order of the run: a run of ten thousand items writes each of
 * them once. The head contains the result of a run, so that a list reads no items. An unfinished run has a row of work,
 * from which another process continues.
 *
 * Items and work are stored as JSON text because they contain objects of arbitrary shape.
 */

export type EvalRunHead = {
  id: string;
  /** The scope of its canonical events. */
  scope: string;
  dataset_id: string;
  dataset_revision: number;
  execution_mode: EvalMode;
  status: EvalStatus;
  planned_item_count: number;
  started_at_secs: number;
  /** Undefined while it runs; the counts are 0 then. */
  ended_at_secs: number | undefined;
  item_count: number;
  passed_count: number;
  /** Models of a live run; absent in rows of earlier versions. */
  models?: string[];
};

export type EvalRunPosition = { started_at_secs: number; id: string };

export type EvalRunQuery = {
  statuses: readonly EvalStatus[];
  dataset_id?: string | undefined;
  since_secs?: number | undefined;
  /** Exclusive. */
  until_secs?: number | undefined;
  after?: EvalRunPosition | undefined;
  limit: number;
};

export type EvalRunTable = {
  /** @throws Integrity when the row cannot be read */
  head(id: string): EvalRunHead | undefined;
  put(batch: Batch, head: EvalRunHead, before: EvalRunHead | undefined): void;
  /** In the order of the run. @throws Integrity */
  items(id: string): EvalItem[];
  /** Returns the positions that have an item, without reading them. */
  played(id: string): number[];
  putItem(batch: Batch, id: string, place: number, item: EvalItem): void;
  work(id: string): string | undefined;
  putWork(batch: Batch, id: string, work: string): void;
  removeWork(batch: Batch, id: string): void;
  /** Returns the ids of runs that have work. */
  unfinished(): string[];
  /** Newest first. */
  list(query: EvalRunQuery): EvalRunPosition[];
};

/** The index entry for all datasets. */
const ALL = 'all';

export const createEvalRunTable = (env: Environment): EvalRunTable => {
  const heads = env.table<EvalRunHead>('eval_runs');
  const items = env.table<string>('eval_run_items');
  const works = env.table<string>('eval_run_work');
  const index = env.table<true>('eval_run_index');

  return {
    head: (id) => (isId(id) ? heads.get([id]) : undefined),
    put(batch, head, before) {
      checkId('eval run id', head.id);
      if (before) for (const key of indexKeys(before)) index.remove(batch, key);
      for (const key of indexKeys(head)) index.put(batch, key, true);
      heads.put(batch, [head.id], head);
    },
    items: (id) => Array.from(items.entries({ prefix: [id] }), ({ key, value }) => itemIn(key, value)),
    played: (id) => Array.from(items.keys({ prefix: [id] }), (key) => Number(key[1])),
    putItem: (batch, id, place, item) => items.put(batch, [id, place], JSON.stringify(item)),
    work: (id) => works.get([id]),
    putWork: (batch, id, work) => works.put(batch, [id], work),
    removeWork: (batch, id) => works.remove(batch, [id]),
    unfinished: () => Array.from(works.keys({ prefix: [] }), (key) => String(key[0])),
    list({ statuses, dataset_id, since_secs, until_secs, after, limit }) {
      const of = dataset_id === undefined ? ALL : indexed(dataset_id);
      const span = {
        ...(since_secs !== undefined && { from: [since_secs] }),
        ...(until_secs !== undefined && { to: [until_secs - 1] }),
        ...(after && { after: [after.started_at_secs, after.id] }),
        reverse: true,
        limit,
      };
      return statuses
        .flatMap((status) => Array.from(index.keys({ prefix: [status, of], ...span }), positionIn))
        .sort(newestFirst)
        .slice(0, limit);
    },
  };
};

const itemIn = (key: Key, text: string): EvalItem => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Integrity(`item ${key[1]} of eval run '${key[0]}' cannot be read`, { cause });
  }
};

const indexKeys = ({ id, status, dataset_id, started_at_secs }: EvalRunHead): Key[] => [
  [status, ALL, started_at_secs, id],
  [status, indexed(dataset_id), started_at_secs, id],
];

const positionIn = (key: Key): EvalRunPosition => ({ started_at_secs: Number(key[2]), id: String(key[3]) });

const newestFirst = (one: EvalRunPosition, other: EvalRunPosition): number =>
  other.started_at_secs - one.started_at_secs || Buffer.compare(Buffer.from(other.id), Buffer.from(one.id));
