import type { Dispatch, DispatchStatus } from '../../schema/dispatch.ts';
import { Integrity } from '../../schema/outcome.ts';
import { baseOf, isReservedScope, ownedIn } from '../../schema/partition.ts';
import { type AnswerTexts, fillIn, type Path, putHollow } from '../engine/answers.ts';
import { type Batch, createNoteBoard } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId, type Key } from '../engine/keys.ts';
import type { Order } from '../engine/order.ts';
import { createPlacement, findPartitions, namesIn, type Place } from '../engine/placement.ts';
import type { Columns } from '../engine/sink.ts';
import type { EndedWork } from './ended-work.ts';
import type { OpenWork } from './open-work.ts';

/** Dispatches of a thread in their claim order: priority, creation, insertion (runtime.md 10.4). */

export type DispatchTable = {
  get(scope: string, dispatch_id: string): Dispatch | undefined;
  /** Returns up to `limit` partitions that have a dispatch with this id in the list across partitions. */
  partitionsWith(list: string, dispatch_id: string, limit: number): string[];
  /** `before` is the last put record, committed or not. */
  put(batch: Batch, scope: string, after: Dispatch, before: Dispatch | undefined): void;
  remove(batch: Batch, scope: string, before: Dispatch): void;
  /** Returns dispatches in all states, decoded lazily. */
  listByThread(scope: string, thread_id: string, page: { offset: number; limit: number }): Iterable<Dispatch>;
  /** Returns the Queued and Claimed dispatches of a thread. */
  openOf(scope: string, thread_id: string): Dispatch[];
  queued(scope: string, thread_id: string): Dispatch[];
  /**
   * Returns up to `limit` Queued and Claimed dispatches of all scopes that follow `after`, by thread, without reading
   * others. A listed dispatch without a record is returned without it.
   */
  open(after: OpenDispatch | undefined, limit: number): OpenDispatch[];
  /** Returns dispatches that ended before a time in milliseconds, oldest first, without reading others. */
  ended(before: number, limit: number): ScopedDispatch[];
};

type ScopedDispatch = { scope: string; dispatch: Dispatch };

export type OpenDispatch = {
  scope: string;
  dispatch_id: string;
  dispatch: Dispatch | undefined;
  /** Position among all open dispatches. */
  place: Key;
};

/** The answer of the run is filled in at `places`, see `answers.ts`. */
export type DispatchRow = { dispatch: Dispatch; order: number; places?: Path[] };

export const createDispatchTable = (
  env: Environment,
  {
    answers,
    order,
    openWork,
    endedWork,
  }: { answers: AnswerTexts; order: Order; openWork: OpenWork; endedWork: EndedWork },
): DispatchTable => {
  const rows = env.table<DispatchRow>('dispatches');
  const index = env.table<string>('dispatch_index');
  const placement = createPlacement(index);
  const orders = createNoteBoard<number>();

  const get = (scope: string, dispatch_id: string): Dispatch | undefined => {
    const row = isId(dispatch_id) ? rows.get([scope, dispatch_id]) : undefined;
    if (row?.places) fillIn(row.dispatch, row.places, answers.textOf(scope, row.dispatch.run_id));
    return row?.dispatch;
  };

  const existing = (scope: string, id: string): Dispatch => {
    const dispatch = get(scope, id);
    if (!dispatch) throw new Integrity(`dispatch '${id}' is listed and has no record`);
    return dispatch;
  };

  const orderOf = (batch: Batch, scope: string, id: string): number => {
    const known = orders.newest(batch, `${scope}\0${id}`) ?? rows.get([scope, id])?.order;
    if (known === undefined) throw new Integrity(`dispatch '${id}' has no record to change`);
    return known;
  };

  const openOf = (scope: string, thread_id: string): Dispatch[] =>
    isId(thread_id) ? openWork.of(scope, thread_id).map((id) => existing(scope, id)) : [];

  return {
    get,
    partitionsWith: (list, dispatch_id, limit) => findPartitions(index, namesIn(list, dispatch_id), limit),
    put(batch, scope, after, before) {
      const id = after.dispatch_id;
      checkId('scope', scope);
      checkId('dispatch id', id);
      checkId('thread id', after.thread_id);
      const at = before ? orderOf(batch, scope, id) : order.next();
      orders.note(batch, `${scope}\0${id}`, at);
      putHollow(batch, { scope, run_id: after.run_id, value: after }, ({ value, places }) => {
        const row = { dispatch: value, order: at };
        rows.put(batch, [scope, id], places.length === 0 ? row : { places, ...row });
      });
      placement.move(batch, id, placesOf(scope, after, at), before ? placesOf(scope, before, at) : []);
      openWork.move(batch, id, openPlace(scope, after, at), before && openPlace(scope, before, at));
      endedWork.move(batch, { scope, id, order: at }, endOf(after), before && endOf(before));
    },
    remove(batch, scope, before) {
      const id = before.dispatch_id;
      const at = orderOf(batch, scope, id);
      rows.remove(batch, [scope, id]);
      placement.move(batch, id, [], placesOf(scope, before, at));
      openWork.move(batch, id, undefined, openPlace(scope, before, at));
      endedWork.move(batch, { scope, id, order: at }, undefined, endOf(before));
    },
    *listByThread(scope, thread_id, { offset, limit }) {
      if (!isId(thread_id)) return;
      const prefix: Key = [scope, 'thread', thread_id];
      for (const id of index.values({ prefix, offset, limit })) yield existing(scope, id);
    },
    openOf,
    queued: (scope, thread_id) => openOf(scope, thread_id).filter((dispatch) => dispatch.status === 'Queued'),
    open: (after, limit) =>
      openWork
        .list(after?.place, limit)
        .map(({ scope, id, place }) => ({ scope, dispatch_id: id, dispatch: get(scope, id), place })),
    ended: (before, limit) =>
      Array.from(endedWork.list(before, limit), ({ scope, id }) => ({
        scope,
        dispatch: existing(scope, id),
      })),
  };
};

export const OPEN: readonly DispatchStatus[] = ['Queued', 'Claimed'];

const isOpen = (dispatch: Dispatch): boolean => OPEN.includes(dispatch.status);

const endOf = (dispatch: Dispatch): number | undefined =>
  isOpen(dispatch) ? undefined : (dispatch.completed_at ?? dispatch.updated_at);

/** The columns of a shipped row: the time of its end. */
export const dispatchColumns = ({ dispatch }: DispatchRow, [scope]: Key): Columns => ({
  scope: String(scope),
  at: endOf(dispatch) ?? null,
});

/** Returns the position among the dispatches of its thread. */
const turnOf = ({ thread_id, priority, created_at }: Dispatch, order: number): Key => [
  thread_id,
  priority,
  created_at,
  order,
];

const placesOf = (scope: string, dispatch: Dispatch, order: number): Place[] => {
  const { dispatch_id, thread_id, priority, created_at } = dispatch;
  const listed = { list: [scope, 'thread', thread_id], position: [priority, created_at, order] };
  return isReservedScope(scope) ? [listed, namePlace(scope, dispatch_id)] : [listed];
};

/** Leads from the id of a dispatch to the partition of its owner. */
const namePlace = (scope: string, id: string): Place => ({
  list: namesIn(ownedIn(baseOf(scope)), id),
  position: [scope],
});

const openPlace = (scope: string, dispatch: Dispatch, order: number): Key | undefined =>
  isOpen(dispatch) ? [scope, ...turnOf(dispatch, order)] : undefined;
