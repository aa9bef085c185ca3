import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import type { InputBlock } from '../schema/message.ts';
import type { Run, RunOverridesInput, Termination } from '../schema/run.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { type Connection, call, framesOf, path, send } from './connection.ts';
import { ConnectionLost, OutputInvalid, problemsIn, RunFailed } from './errors.ts';
import { followLog, persistently } from './follow.ts';

/**
 * A run as it happens, however often its connection is cut.
 *
 * Guarantees: an event is told once. After a cut the run goes on with what its log has: calls, results and the end in
 * their order, and the text that was missed in one piece when its message is committed. What is not durable (the text
 * of arguments, marks of steps, snapshots of state) is not told again. The service may stop and start meanwhile.
 * Relies on the event log of the service, and on the first event to have come: before it nobody knows which run it is.
 */
export type RunStream = AsyncIterable<RunEvent, void> & {
  /** Resolves with the first event. */
  readonly ids: Promise<{ thread_id: string; run_id: string }>;
  /** Reads what is left. A run that waits for a decision ends its stream with `suspended`. */
  end(): Promise<RunEnd>;
  /** Reads what is left, for the answer alone. */
  text(): Promise<string>;
  /**
   * Reads what is left, for the structured result alone. A schema, such as one of zod, checks it once more and gives it
   * its type.
   *
   * @throws OutputInvalid, RunFailed
   */
  output<Output = Json>(schema?: OutputParser<Output>): Promise<Output>;
  /** Cancels the run. Who only leaves the loop, or aborts the signal, lets it go on without a reader. */
  abort(): Promise<void>;
};

export type RunEnd = {
  thread_id: string;
  run_id: string;
  /** Everything that was said, without reasoning and without what a repeated attempt took back. */
  text: string;
  termination: Termination;
  /** Of a run that has a schema and has ended with a value that fits it. */
  structured_output?: Json;
};

/** `content`: a text, or texts and files (`fileBlock`); files only in messages of role user. */
export type RunMessage = { role: 'user' | 'assistant' | 'system'; content: string | readonly InputBlock[] };

export type OutputParser<Output> = { parse(value: unknown): Output };

export type RunRequest = {
  agentId: string;
  /** Goes on with this thread, or makes one of this id; default: a new one. */
  threadId?: string | undefined;
  messages: readonly RunMessage[];
  /** Settings of the model calls of this run, over those of the agent and of its model. */
  overrides?: RunOverridesInput | undefined;
  /** JSON Schema of the structured result, in place of that of the agent; null: the run has none. */
  output_schema?: JsonObject | null | undefined;
};

type RunStart = Extract<RunEvent, { event_type: 'run_start' }>;
type RunFinish = Extract<RunEvent, { event_type: 'run_finish' }>;

type Seen = {
  run: RunStart | undefined;
  /** Of the events that the log has too: how often each has come. */
  events: Map<string, number>;
  /** By message, in their order. */
  texts: Map<string, string>;
  message: string;
  finish: RunFinish | undefined;
};

/** Starts the run at once; its events wait for whoever reads them. */
export const streamRun = (
  connection: Connection,
  request: RunRequest,
  { signal }: { signal?: AbortSignal | undefined } = {},
): RunStream => {
  const seen: Seen = { run: undefined, events: new Map(), texts: new Map(), message: '', finish: undefined };
  const source = eventsOf(connection, request, seen, signal);
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
  // Whoever asks for it is told; nobody has to.
  ids.catch(() => {});

  const end = async (): Promise<RunEnd> => {
    while (!(await next()).done);
    if (!seen.finish) throw new Error('the events of the run were left by another reader');
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
    output: async (schema) => structuredOutputOf(await end(), schema),
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
export function structuredOutputOf<Output>(end: RunEnd, schema: OutputParser<Output> | undefined): Output {
  const { termination, structured_output } = end;
  if (termination.type === 'stopped' && termination.value.code === 'invalid_output') {
    throw new OutputInvalid([termination.value.detail ?? 'does not fit the schema'], end);
  }
  if (termination.type !== 'natural_end') throw new RunFailed(termination, end);
  if (structured_output === undefined) throw new OutputInvalid(['the run has no schema for its result'], end);
  // Without a schema the caller says what the type is.
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
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent, void> {
  const response = await send(connection, 'POST', '/v1/runs', { body: request, signal });
  let cause: unknown = new Error('the stream ended before the run');
  try {
    for await (const { data } of framesOf(response)) {
      // The schema of the frames is that of the document.
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
 * A service that stops ends its streams with an error, and takes the runs up again when it starts: their records tell.
 * What it said last holds when it does not come back.
 */
const isCut = async (
  connection: Connection,
  event: RunEvent,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  if (event.event_type !== 'run_finish' || event.termination.type !== 'error') return false;
  const target = path`/v1/runs/${event.run_id}`;
  const asked = persistently(connection, signal, () => call<Run>(connection, 'GET', target, { signal }));
  const run = await asked.catch(() => undefined);
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

/** What tells an event from others of its run, as far as it is in the log. */
const keyOf = (event: RunEvent): string => {
  const id = 'id' in event ? event.id : 'target_id' in event ? event.target_id : '';
  return `${event.event_type} ${id}`;
};

/** What a logged event says that has not come yet, as events of the run. */
const createMissed = (seen: Seen): ((logged: CanonicalEvent) => RunEvent[]) => {
  const told = new Map(seen.events);
  const committed = new Set<unknown>();
  return ({ event_kind, payload }) => {
    if (event_kind === 'MessageCommitted') {
      committed.add(payload.message_id);
      return textOf(seen, payload);
    }
    if (!('event_type' in payload) || event_kind === 'ToolPermissionRequested') return [];
    // A payload of an event of a run is what its stream has.
    const event = payload as RunEvent;
    const before = told.get(keyOf(event)) ?? 0;
    if (before > 0) {
      told.set(keyOf(event), before - 1);
      return [];
    }
    if (event.event_type !== 'run_start') return [event];
    // Taken up again from its last commit: what was told behind that is void, and happens anew.
    told.clear();
    const isVoid = seen.texts.get(seen.message) && !committed.has(seen.message);
    return isVoid ? [{ event_type: 'stream_reset', reason: 'the run was taken up again' }] : [];
  };
};

/** The rest of a message whose text did not come to its end. */
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

/** The log of a run from a start of it, then as it goes on: what it did before another reader has had. */
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

/** A run that goes on with a message begins a turn, and says which. */
const isStart = ({ payload }: CanonicalEvent, { turn_id }: RunStart): boolean =>
  payload.event_type === 'run_start' && payload.turn_id === turn_id;
