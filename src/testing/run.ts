import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Termination } from '../schema/run.ts';
import type { RunEvent, RunEventOf } from '../schema/run-event.ts';

/** The result of a run for tests. */

/**
 * A tool call of a run, with its outcome so far.
 *
 * @example
 * ```ts
 * const namesOf = (calls: readonly TestCall[]): string[] =>
 *   calls.filter(({ outcome }) => outcome === 'succeeded').map(({ name }) => name);
 * ```
 */
export type TestCall = {
  id: string;
  name: string;
  arguments: unknown;
  /** Result of the tool as JSON, or the decision on a declined call. Undefined while the call is pending. */
  result?: unknown;
  /** Text that the model reads instead of the result, if different. */
  message?: string;
  /** `resumed` and `cancelled` are the two outcomes of a suspended call. */
  outcome?: 'succeeded' | 'failed' | 'suspended' | 'resumed' | 'cancelled';
};

/**
 * A run that has ended or waits (`termination.type` is `suspended`).
 *
 * @example
 * ```ts
 * const { text, calls, termination }: TestRun = await troupe.run('What is 2 + 3?');
 * console.log(termination.type, calls.length, text);
 * ```
 */
export type TestRun = {
  id: string;
  thread_id: string;
  /** All text of the model, without reasoning. */
  text: string;
  reasoning: string;
  /** Calls in the order of the model's requests. */
  calls: TestCall[];
  termination: Termination;
  events: RunEvent[];
};

/**
 * A live run; each event is delivered once, to its first reader.
 *
 * @example
 * ```ts
 * const run: OpenRun = await troupe.start('What is 2 + 3?');
 * const call = await run.until('tool_call_ready');
 * console.log(call.name, call.arguments);
 * const { text } = await run.end();
 * ```
 */
export type OpenRun = AsyncIterable<RunEvent> & {
  /** Returns the next event of this type and skips those before it. @throws if the run ends without one */
  until<Type extends RunEvent['event_type']>(type: Type): Promise<RunEventOf<Type>>;
  /** Reads the remaining events; the result contains all events, including those that were read before. */
  end(): Promise<TestRun>;
};

/** The data of the frames of a response of `text/event-stream`. */
export async function* framesOf(response: Response): AsyncGenerator<unknown, void> {
  if (!response.body) throw new Error(`${response.url} has no stream`);
  const frames = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of frames) yield JSON.parse(data);
}

/**
 * @param source the events of one run, up to its end or its suspension
 * @param before earlier events of the run
 */
export const openRun = (
  source: AsyncGenerator<RunEvent, void>,
  before: readonly RunEvent[] = [],
): OpenRun => {
  const read = [...before];
  const next = async (): Promise<RunEvent | undefined> => {
    const { done, value } = await source.next();
    if (done) return undefined;
    read.push(value);
    return value;
  };
  return {
    async *[Symbol.asyncIterator]() {
      for (let event = await next(); event; event = await next()) yield event;
    },
    async until(type) {
      for (let event = await next(); event; event = await next()) if (isOf(event, type)) return event;
      throw new Error(
        `the run ended without '${type}': ${read.map(({ event_type }) => event_type).join(', ')}`,
      );
    },
    async end() {
      while ((await next()) !== undefined);
      return runOf(read);
    },
  };
};

const isOf = <Type extends RunEvent['event_type']>(event: RunEvent, type: Type): event is RunEventOf<Type> =>
  event.event_type === type;

const joined = (events: readonly RunEvent[], type: 'text_delta' | 'reasoning_delta'): string =>
  events.map((event) => (isOf(event, type) ? event.delta : '')).join('');

const runOf = (events: RunEvent[]): TestRun => {
  const finish = events.findLast((event) => isOf(event, 'run_finish'));
  if (!finish) throw new Error('the stream of the run was interrupted before its end');
  return {
    id: finish.run_id,
    thread_id: finish.thread_id,
    text: joined(events, 'text_delta'),
    reasoning: joined(events, 'reasoning_delta'),
    calls: callsOf(events),
    termination: finish.termination,
    events,
  };
};

const callsOf = (events: readonly RunEvent[]): TestCall[] => {
  const calls = new Map<string, TestCall>();
  const report = (id: string, more: Partial<TestCall>): void => {
    calls.set(id, { ...(calls.get(id) ?? { id, name: '', arguments: undefined }), ...more });
  };
  for (const event of events) {
    if (isOf(event, 'tool_call_ready')) report(event.id, { name: event.name, arguments: event.arguments });
    if (isOf(event, 'tool_call_done')) report(event.id, done(event));
    if (isOf(event, 'tool_call_resumed')) {
      const { target_id, action, result } = event;
      report(target_id, { result, outcome: action === 'resume' ? 'resumed' : 'cancelled' });
    }
  }
  return [...calls.values()];
};

const done = ({ outcome, result }: RunEventOf<'tool_call_done'>): Partial<TestCall> => ({
  outcome,
  name: result.tool_name,
  ...(outcome !== 'suspended' && { result: result.data }),
  ...(outcome !== 'suspended' && result.message !== null && { message: result.message }),
});
