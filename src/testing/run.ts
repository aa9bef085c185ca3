import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Termination } from '../schema/run.ts';
import type { RunEvent, RunEventOf } from '../schema/run-event.ts';

/** What a test sees of a run. */

export type TestCall = {
  id: string;
  name: string;
  arguments: unknown;
  /** What the tool gave, as JSON; of a call that was declined, what was decided. Undefined while it waits. */
  result?: unknown;
  /** What the model reads instead of the result, where that is something else. */
  message?: string;
  /** `resumed` and `cancelled` are the two ways in which a call goes on that was suspended. */
  outcome?: 'succeeded' | 'failed' | 'suspended' | 'resumed' | 'cancelled';
};

/** A run that has ended, or waits for somebody (`termination.type` is `suspended`). */
export type TestRun = {
  id: string;
  thread_id: string;
  /** Everything that the model has said, without reasoning. */
  text: string;
  reasoning: string;
  /** In the order in which the model asked for them. */
  calls: TestCall[];
  termination: Termination;
  events: RunEvent[];
};

/** A run whose events come as they happen; each is given once, to whoever asks first. */
export type OpenRun = AsyncIterable<RunEvent> & {
  /** The next event of this type; those before it are passed over. @throws when the run ends without one */
  until<Type extends RunEvent['event_type']>(type: Type): Promise<RunEventOf<Type>>;
  /** Reads what is left; tells of all events, those that were read before as well. */
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
 * @param before those that the run had before
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
  if (!finish) throw new Error('the stream of the run broke off before its end');
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
  const tell = (id: string, more: Partial<TestCall>): void => {
    calls.set(id, { ...(calls.get(id) ?? { id, name: '', arguments: undefined }), ...more });
  };
  for (const event of events) {
    if (isOf(event, 'tool_call_ready')) tell(event.id, { name: event.name, arguments: event.arguments });
    if (isOf(event, 'tool_call_done')) tell(event.id, done(event));
    if (isOf(event, 'tool_call_resumed')) {
      const { target_id, action, result } = event;
      tell(target_id, { result, outcome: action === 'resume' ? 'resumed' : 'cancelled' });
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
