import { isTerminalLeg } from '../../../machines/response.ts';
import type { Channel, RunWatch, WrittenRun } from '../../runtime/index.ts';
import type { Clock } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import type { Batch, Store } from '../../store/index.ts';
import { eventOf, isPaused, moveLeg } from './leg-moves.ts';
import { createOpenLeg, endReaders, type Leg, type Opened, send } from './open-leg.ts';
import { marksOf } from './open-output.ts';
import type { OutputItem } from './output.ts';
import { replayEvents } from './replay.ts';
import { type ResponseResource, resourceOf } from './response.ts';
import { storedOutput } from './stored-legs.ts';

/**
 * The legs of responses, from the accepted request to their last event (openai-responses.md 7.1, 7.6, 12).
 *
 * Guarantees: the row of a leg is written in the commits of its run, so a stored end of a run is also the end of its
 * leg. A follower receives the events after its position, and then the live ones, each once. A leg without followers
 * keeps its items and the lengths of its deltas, and no frames. A decision that another protocol makes begins a leg.
 * Relies on `onRunWritten` for each record of a run, and on the watch for its streams.
 * Cost: one map lookup for each commit of a run; one row for each commit that changes the output of a leg.
 */
export type Legs = {
  /** Adds the first row of a leg to the commit that accepts its request. */
  begin(batch: Batch, scope: string, given: NewLeg): Leg;
  /** Returns the leg of a row while its end is not stored; also one of an earlier process, whose run resumes. */
  find(scope: string, row: StoredResponse): Leg | undefined;
  /** Returns the leg of a run while its end is not stored; also one that is not committed yet. */
  openOf(scope: string, run_id: string): Leg | undefined;
  /** Returns the resource of a stored leg, with its committed output. */
  read(scope: string, row: StoredResponse): ResponseResource;
  /** Returns the frames of a stored leg after this number. */
  replay(scope: string, row: StoredResponse, after: number): string[];
  onRunWritten(scope: string, written: WrittenRun): void;
  readonly runWatch: RunWatch;
  /** Ends the streams and held requests of runs that have another owner now. */
  moved(scope: string, run_ids: readonly string[]): void;
};

export type NewLeg = {
  run: RunRecord;
  /** Whether the request has started the run, so that no earlier leg has to be looked for. */
  isFirst?: boolean;
  row: Pick<StoredResponse, 'from_seq' | 'echo' | 'inputs'> & Pick<Partial<StoredResponse>, 'encrypted'>;
};

export type LegsDeps = {
  store: Pick<Store, 'batch' | 'commit' | 'messages' | 'retractions' | 'runs' | 'stopped' | 'responses'>;
  clock: Clock;
  log: Pick<ServiceLog, 'warn'>;
  legEnded(status: string): void;
};

/** Numbers that a process may use before it writes the row again (openai-responses.md 7.6). */
const RESERVED = 1000;

export const createLegs = (deps: LegsDeps): Legs => {
  const book: Book = { ...deps, open: new Map(), without: new WeakSet() };
  return {
    begin: (batch, scope, given) => beginLeg(book, batch, scope, given),
    find(scope, row) {
      const found = book.open.get(keyOf(scope, row.run_id)) ?? resumedLeg(book, scope, row);
      return found?.row.leg === row.leg ? found : undefined;
    },
    openOf: (scope, run_id) => book.open.get(keyOf(scope, run_id)),
    read: (scope, row) => resourceOf(row, present(storedOutput(book.store, scope, row))),
    replay(scope, row, after) {
      const items = storedOutput(book.store, scope, row);
      const { events, status } = row;
      const resource = (at: StoredResponse['status']) =>
        resourceOf(row, at === status ? present(items) : [], at);
      return replayEvents({ items, events, status, resource }, after);
    },
    onRunWritten(scope, written) {
      try {
        noteRun(book, scope, written);
      } catch (err) {
        const { run_id, thread_id } = written.after;
        book.log.warn('openai.leg_failed', { err, run_id, thread_id });
      }
    },
    runWatch: {
      began(scope, run_id, channel) {
        const leg = book.open.get(keyOf(scope, run_id));
        if (leg) attach(book, leg, channel);
      },
      ended() {},
      stored(scope, run) {
        const leg = book.open.get(keyOf(scope, run.run_id));
        if (leg?.last !== run) return;
        // The frames before the end are still held: the end of the channel is that of the leg.
        if (leg.channel?.isHeld()) leg.endsWithChannel = true;
        else endLeg(book, leg);
      },
    },
    moved(scope, run_ids) {
      for (const run_id of run_ids) {
        const leg = book.open.get(keyOf(scope, run_id));
        if (leg) dropLeg(book, leg);
      }
    },
  };
};

type Book = LegsDeps & {
  /** Legs whose end is not stored, by `keyOf`. */
  readonly open: Map<string, Leg>;
  /** The last written records of runs of these routes that have no legs: those of chat completions. */
  readonly without: WeakSet<RunRecord>;
};

/** A scope has no control characters, so keys are unambiguous. */
const keyOf = (scope: string, run_id: string): string => `${scope}\0${run_id}`;

const present = (items: readonly (OutputItem | undefined)[]): OutputItem[] =>
  items.filter((item) => item !== undefined);

const beginLeg = (
  book: Book,
  batch: Batch,
  scope: string,
  { run, row: given, isFirst = false }: NewLeg,
): Leg => {
  const { store, clock, open, without } = book;
  const key = keyOf(scope, run.run_id);
  without.delete(run);
  // A decision in the same commit has begun the leg already.
  const begun = open.get(key);
  const earlier = isFirst ? [] : store.responses.ofRun(scope, run);
  const last = earlier.at(-1);
  const now = clock.now();
  const row: StoredResponse = {
    run_id: run.run_id,
    thread_id: run.thread_id,
    leg: (last?.leg ?? 0) + 1,
    status: hasTag(run, 'running') ? 'in_progress' : 'queued',
    created_at: begun?.row.created_at ?? now,
    items: [],
    events: [],
    next: 0,
    reserved: RESERVED,
    calls: last?.calls ?? 0,
    ...(last?.files && { files: last.files }),
    ...given,
  };
  const leg = openLeg(book, scope, { row, run, earlier });
  store.responses.add(batch, scope, row);
  return leg;
};

const openLeg = ({ store, open }: Book, scope: string, opened: Opened): Leg => {
  const leg = createOpenLeg(store, scope, opened);
  open.set(keyOf(scope, leg.row.run_id), leg);
  return leg;
};

const attach = (book: Book, leg: Leg, channel: Channel): void => {
  if (leg.channel === channel) return;
  leg.channel = channel;
  const write = (frames: string, count: number): void => {
    send(leg, frames, count);
    if (leg.encoder.output.next >= leg.row.reserved) reserve(book, leg);
  };
  const end = (): void => {
    if (leg.endsWithChannel) endLeg(book, leg);
  };
  channel.attach({ name: 'openai-response', createEncoder: () => leg.encoder }, { write, end });
};

/** A leg with many events between two commits of its run writes its row in a separate one. */
const reserve = (book: Book, leg: Leg): void => {
  const { store, log } = book;
  const batch = store.batch({ scope: leg.scope, thread_id: leg.row.thread_id });
  putRow(book, batch, leg);
  store.commit(batch).catch((err) => {
    const { run_id, thread_id } = leg.row;
    log.warn('openai.leg_failed', { err, run_id, thread_id });
  });
};

const putRow = ({ store }: Pick<Book, 'store'>, batch: Batch, leg: Leg): void => {
  const { row, encoder, scope } = leg;
  const { kept, next } = encoder.output;
  row.items = [...kept];
  row.events = marksOf(encoder.output);
  row.next = next;
  row.calls = encoder.state.calls;
  row.files = encoder.state.files.length > 0 ? [...encoder.state.files] : undefined;
  while (row.reserved <= next) row.reserved += RESERVED;
  leg.written = next;
  store.responses.put(batch, scope, row);
};

const noteRun = (book: Book, scope: string, written: WrittenRun): void => {
  const { after, before, batch } = written;
  if (after.activation?.trace.adapter !== 'openai') return;
  const leg = openOne(book, keyOf(scope, after.run_id), after) ?? legWithoutRequest(book, scope, written);
  if (!leg || isTerminalLeg(leg.row.status)) return;
  const event = eventOf(leg, after, before);
  if (event) moveLeg(leg, event, written);
  if (event || leg.encoder.output.next !== leg.written) putRow(book, batch, leg);
};

/** Drops a leg whose end could not be stored: its run continues. */
const openOne = (book: Book, key: string, after: RunRecord): Leg | undefined => {
  const leg = book.open.get(key);
  if (!leg || !isTerminalLeg(leg.row.status) || hasTag(after, 'done') || isPaused(after)) return leg;
  dropLeg(book, leg, 'in_progress');
  return undefined;
};

/** Returns the leg that an earlier process has begun, or begins one with a decision of another protocol. */
const legWithoutRequest = (
  book: Book,
  scope: string,
  { after, before, batch, seq }: WrittenRun,
): Leg | undefined => {
  const { store, without } = book;
  // A new run has no rows. The request that begins its first leg does so after its record is written.
  if (!before || without.has(before)) {
    without.add(after);
    return undefined;
  }
  const isContinued = isPaused(before) && !isPaused(after) && !hasTag(after, 'done');
  if (isPaused(before) && !isContinued) return undefined;
  const rows = store.responses.ofRun(scope, after);
  const last = rows.at(-1);
  if (!last) {
    without.add(after);
    return undefined;
  }
  if (!isTerminalLeg(last.status)) return reopen(book, scope, after, rows);
  if (!isContinued) return undefined;
  const { model, store: stored, metadata } = last.echo;
  const echo = { model, ...(stored !== undefined && { store: stored }), ...(metadata && { metadata }) };
  const leg = beginLeg(book, batch, scope, { run: after, row: { from_seq: seq, echo, inputs: [] } });
  leg.row.elsewhere = true;
  return leg;
};

/** Opens the last leg of a run that an earlier process has begun. */
const reopen = (book: Book, scope: string, run: RunRecord, rows: readonly StoredResponse[]): Leg => {
  const [last] = rows.slice(-1);
  if (!last) throw new Error(`run '${run.run_id}' has no response`);
  const leg = openLeg(book, scope, { row: { ...last }, run, earlier: rows.slice(0, -1) });
  leg.row.reserved += RESERVED;
  leg.written = -1;
  return leg;
};

/** Returns the leg of a run that will resume, before its first commit in this process. */
const resumedLeg = (book: Book, scope: string, row: StoredResponse): Leg | undefined => {
  if (isTerminalLeg(row.status)) return undefined;
  const run = book.store.runs.get(scope, row.run_id);
  if (!run || hasTag(run, 'done') || isPaused(run)) return undefined;
  const rows = book.store.responses.ofRun(scope, run);
  return rows.at(-1)?.leg === row.leg ? reopen(book, scope, run, rows) : undefined;
};

/** The end is stored. */
const endLeg = (book: Book, leg: Leg): void => {
  const { row, encoder } = leg;
  book.legEnded(row.status);
  const { thread_id, run_id } = row;
  send(
    leg,
    encoder.event({ event_type: 'run_finish', thread_id, run_id, termination: { type: 'natural_end' } }),
  );
  dropLeg(book, leg);
};

/** Ends the streams and the held requests of a leg, with its output so far. */
const dropLeg = ({ open }: Book, leg: Leg, status = leg.row.status): void => {
  const key = keyOf(leg.scope, leg.row.run_id);
  if (open.get(key) === leg) open.delete(key);
  endReaders(leg, status);
};
