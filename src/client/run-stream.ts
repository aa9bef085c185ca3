import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Json } from '../schema/json.ts';
import type { Run, Termination } from '../schema/run.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { type Connection, call, framesOf, path, send } from './connection.ts';
import { ConnectionLost, OutputInvalid, problemsIn, RunFailed } from './errors.ts';
import { followLog, persistently } from './follow.ts';
import type { KeyedOptions } from './keyed.ts';
import type { RunRequest } from './run-request.ts';

/**
 * A live run, across interrupted connections.
 *
 * Guarantees: each event is reported once. After an interruption, the run continues from its log: calls, results and
 * the end in their order, and missed text as one delta once its message is committed. Events that are not durable
 * (argument deltas, step markers, state snapshots) are not repeated. The service may restart in between.
 *
 * Relies on the event log of the service, and on the first event having arrived: before it, the id of the run is
 * unknown.
 *
 * @example
 * ```ts
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
 * for await (const event of run) if (event.event_type === 'text_delta') process.stdout.write(event.delta);
 * const { termination } = await run.end();
 * ```
 */
export type RunStream = AsyncIterable<RunEvent, void> & {
  /** Resolves with the first event. */
  readonly ids: Promise<{ thread_id: string; run_id: string }>;
  /** Reads the remaining events. A run that waits for a decision ends its stream with `suspended`. */
  end(): Promise<RunEnd>;
  /** Reads the remaining events and returns the text. */
  text(): Promise<string>;
  /**
   * Reads the remaining events and returns the structured result. A schema, such as one of zod, validates it again and
   * determines its type.
   *
   * @throws OutputInvalid, RunFailed
   */
  output<Output = Json>(schema?: OutputParser<Output>): Promise<Output>;
  /** Cancels the run. Leaving the loop, or aborting the signal, only ends the reading; the run continues. */
  abort(): Promise<void>;
};

/**
 * The end of a run: the last event of its stream, with the text of all events.
 *
 * @example
 * ```ts
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
 * const { thread_id, text, termination }: RunEnd = await run.end();
 * if (termination.type === 'suspended') console.log(`${thread_id} waits for a decision`);
 * else console.log(text);
 * ```
 */
export type RunEnd = {
  thread_id: string;
  run_id: string;
  /** All text, without reasoning and without text that a repeated attempt revoked. */
  text: string;
  termination: Termination;
  /** Present if the run has a schema and ended with a valid value. */
  structured_output?: Json;
};

/**
 * A schema of a structured result, such as one of zod: `parse` returns the value in its type, or throws.
 *
 * @example
 * ```ts
 * const schema = z.object({ team: z.enum(['billing', 'tech']) }) satisfies OutputParser<{ team: string }>;
 * const run = client.runs.stream({ agentId: 'triage', messages: [{ role: 'user', content: 'Wrong invoice' }] });
 * const { team } = await run.output(schema);
 * ```
 */
export type OutputParser<Output> = { parse(value: unknown): Output };

type RunStart = Extract<RunEvent, { event_type: 'run_start' }>;
type RunFinish = Extract<RunEvent, { event_type: 'run_finish' }>;

type Seen = {
  run: RunStart | undefined;
  /** Number of received events by key, for events that the log also contains. */
  events: Map<string, number>;
  /** Texts by message, in their order. */
  texts: Map<string, string>;
  message: string;
  finish: RunFinish | undefined;
};

/** Starts the run immediately; its events are buffered until they are read. */
export const streamRun = (
  connection: Connection,
  request: RunRequest,
  options: KeyedOptions = {},
): RunStream => {
  const seen: Seen = { run: undefined, events: new Map(), texts: new Map(), message: '', finish: undefined };
  const source = eventsOf(connection, request, seen, options);
  const first = source.next();
  let isFirst = true;
  const next = (): Promise<IteratorResult<RunEvent, void>> => {
    const result = isFirst ? first : source.next();
    isFirst = false;
    return result;
  };
  const ids = first.then(() => {
    if (!seen.run) throw new ConnectionLost('POST /v1/runs', new Error('the run did not begin'));
    const { thread_id, run_id } = seen.run;
    return { thread_id, run_id };
  });
  // Callers need not use `ids`, so a rejection must not count as unhandled.
  ids.catch(() => {});

  const end = async (): Promise<RunEnd> => {
    while (!(await next()).done);
    if (!seen.finish) throw new Error('another reader stopped reading the events of the run');
    const { thread_id, run_id, termination, result } = seen.finish;
    const structured_output = result?.structured_output;
    return {
      thread_id,
      run_id,
      text: [...seen.texts.values()].join(''),
      termination,
      ...(structured_output !== undefined && { structured_output }),
    };
  };

  return {
    ids,
    end,
    text: async () => (await end()).text,
    output: async (schema) => parseStructuredOutput(await end(), schema),
    async abort() {
      const { run_id } = await ids;
      await call(connection, 'POST', path`/v1/runs/${run_id}/cancel`);
    },
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        await source.return();
        return { done: true, value: undefined };
      },
    }),
  };
};

/** @throws OutputInvalid, RunFailed */
export function parseStructuredOutput<Output>(end: RunEnd, schema: OutputParser<Output> | undefined): Output {
  const { termination, structured_output } = end;
  if (termination.type === 'stopped' && termination.value.code === 'invalid_output') {
    throw new OutputInvalid([termination.value.detail ?? 'does not fit the schema'], end);
  }
  if (termination.type !== 'natural_end') throw new RunFailed(termination, end);
  if (structured_output === undefined) throw new OutputInvalid(['the run has no schema for its result'], end);
  // Without a schema, the caller determines the type.
  if (!schema) return structured_output as Output;
  try {
    return schema.parse(structured_output);
  } catch (error) {
    throw new OutputInvalid(problemsIn(error), end, { cause: error });
  }
}

async function* eventsOf(
  connection: Connection,
  request: RunRequest,
  seen: Seen,
  options: KeyedOptions,
): AsyncGenerator<RunEvent, void> {
  const { signal } = options;
  const response = await send(connection, 'POST', '/v1/runs', { ...options, body: request });
  let cause: unknown = new Error('the stream ended before the run');
  try {
    for await (const { data } of framesOf(response)) {
      // The frames have the documented schema.
      const event = data as RunEvent;
      if (await isCut(connection, event, signal)) break;
      note(seen, event);
      yield event;
      if (seen.finish) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    cause = error;
  }
  if (!seen.run) throw new ConnectionLost('POST /v1/runs', cause);
  const missed = createMissed(seen);
  for await (const logged of logOf(connection, seen.run, signal)) {
    for (const event of missed(logged)) {
      note(seen, event);
      yield event;
      if (seen.finish) return;
    }
  }
}

/**
 * Returns whether an error end is only an interruption: a stopping service ends its streams with an error and resumes
 * the runs after its restart, which their records show. If the service stays unreachable, the received end is final.
 */
const isCut = async (
  connection: Connection,
  event: RunEvent,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  if (event.event_type !== 'run_finish' || event.termination.type !== 'error') return false;
  const target = path`/v1/runs/${event.run_id}`;
  const pending = persistently(connection, signal, () => call<Run>(connection, 'GET', target, { signal }));
  const run = await pending.catch(() => undefined);
  signal?.throwIfAborted();
  return run !== undefined && !hasEndedWith(run, event.termination.value);
};

const hasEndedWith = ({ status, termination_reason }: Run, error: string): boolean =>
  status === 'done' && termination_reason?.type === 'error' && termination_reason.value === error;

const note = (seen: Seen, event: RunEvent): void => {
  const { texts, message } = seen;
  const key = keyOf(event);
  seen.events.set(key, (seen.events.get(key) ?? 0) + 1);
  if (event.event_type === 'run_start') seen.run ??= event;
  if (event.event_type === 'step_start') {
    seen.message = event.message_id;
    texts.set(event.message_id, '');
  }
  if (event.event_type === 'stream_reset') texts.set(message, '');
  if (event.event_type === 'text_delta') texts.set(message, (texts.get(message) ?? '') + event.delta);
  if (event.event_type === 'run_finish') seen.finish = event;
};

/** Identifies an event within its run, as far as the log contains it. */
const keyOf = (event: RunEvent): string => {
  const id = 'id' in event ? event.id : 'target_id' in event ? event.target_id : '';
  return `${event.event_type} ${id}`;
};

/** Converts a logged event to the run events that were not received yet. */
const createMissed = (seen: Seen): ((logged: CanonicalEvent) => RunEvent[]) => {
  const known = new Map(seen.events);
  const committed = new Set<unknown>();
  return ({ event_kind, payload }) => {
    if (event_kind === 'MessageCommitted') {
      committed.add(payload.message_id);
      return textOf(seen, payload);
    }
    if (!('event_type' in payload) || event_kind === 'ToolPermissionRequested') return [];
    // The payload of a run event has the form of the stream.
    const event = payload as RunEvent;
    const before = known.get(keyOf(event)) ?? 0;
    if (before > 0) {
      known.set(keyOf(event), before - 1);
      return [];
    }
    if (event.event_type !== 'run_start') return [event];
    // The run was resumed from its last commit, so later events are void and are executed again.
    known.clear();
    const isVoid = seen.texts.get(seen.message) && !committed.has(seen.message);
    return isVoid ? [{ event_type: 'stream_reset', reason: 'the run was resumed' }] : [];
  };
};

/** Returns the missing part of a message. */
const textOf = (seen: Seen, payload: Record<string, unknown>): RunEvent[] => {
  const {
    role,
    message_id,
    content_blocks = [],
  } = payload as {
    role?: string;
    message_id?: string;
    content_blocks?: { type: string; text?: string }[];
  };
  if (role !== 'assistant' || message_id === undefined) return [];
  const whole = content_blocks.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('');
  const before = seen.texts.get(message_id) ?? '';
  const rest = whole.startsWith(before) ? whole.slice(before.length) : whole;
  const events: RunEvent[] = [];
  if (!seen.texts.has(message_id)) events.push({ event_type: 'step_start', message_id });
  else if (before !== '' && !whole.startsWith(before)) {
    events.push({ event_type: 'stream_reset', reason: 'the connection was lost' });
  }
  if (rest !== '') events.push({ event_type: 'text_delta', delta: rest });
  return events;
};

type EventPage = { items: CanonicalEvent[]; next_cursor: string | null; has_more: boolean };

/** Yields the log of a run from one of its starts, then live; earlier events belong to other readers. */
async function* logOf(
  connection: Connection,
  start: RunStart,
  signal: AbortSignal | undefined,
): AsyncGenerator<CanonicalEvent, void> {
  const target = path`/v1/runs/${start.run_id}/events`;
  let cursor: string | undefined;
  let hasStarted = false;
  for (;;) {
    const query = { cursor, limit: 200 };
    const page = await persistently(connection, signal, () =>
      call<EventPage>(connection, 'GET', target, { query, signal }),
    );
    for (const event of page.items) {
      cursor = event.cursors_by_scope[0]?.cursor ?? cursor;
      hasStarted ||= isStart(event, start);
      if (hasStarted) yield event;
    }
    if (!page.has_more) break;
  }
  yield* followLog(connection, `${target}/stream`, { cursor, signal });
}

/** A run that continues with a message starts a turn with an id. */
const isStart = ({ payload }: CanonicalEvent, { turn_id }: RunStart): boolean =>
  payload.event_type === 'run_start' && payload.turn_id === turn_id;
