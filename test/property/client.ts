import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import type { SubmitMode } from '../../src/runtime/index.ts';
import { Conflict, Invalid, NotFound, Unavailable } from '../../src/schema/outcome.ts';
import type { RunEvent } from '../../src/schema/run-event.ts';
import type { AgentName, Ground, Life } from './service.ts';

/** Requests as the routes pass them to the runtime, with their outcomes. */

export type Answer =
  | { status: 'accepted'; run_id?: string; dispatch_id?: string; how?: 'running' | 'queued'; count?: number }
  | { status: 'refused'; code: 400 | 404 | 409 | 503; message: string }
  | { status: 'failed'; error: unknown };

export type Request = {
  /** A description for failure messages. */
  name: string;
  thread: string;
  answer: Answer | undefined;
  /** The number of requests that were made before the response to this one. */
  answeredAt: number | undefined;
  askedAt: number;
  /** Whether the process ended before the response. */
  lost: boolean;
};

export type Input = Request & {
  text: string;
  mode: SubmitMode;
  /** The run that the input targets. */
  into?: string;
  agent?: AgentName;
  stream: RunReader | undefined;
};

/** A client of a run stream, which receives nothing after it disconnects. */
export type RunReader = { events: RunEvent[]; ended: boolean; left: boolean; leave(): void };

export const createRunReader = () => {
  const reader: RunReader = { events: [], ended: false, left: false, leave() {} };
  return reader;
};

const CODES = [
  [Invalid, 400],
  [NotFound, 404],
  [Conflict, 409],
  [Unavailable, 503],
] as const;

const refusal = (error: unknown): Answer => {
  const [, code] = CODES.find(([kind]) => error instanceof kind) ?? [];
  if (code === undefined || !(error instanceof Error)) return { status: 'failed', error };
  return { status: 'refused', code, message: error.message };
};

/** Never rejects. */
const answerOf = (
  ask: () => Promise<Omit<Extract<Answer, { status: 'accepted' }>, 'status'>>,
): Promise<Answer> => ask().then((accepted) => ({ status: 'accepted', ...accepted }), refusal);

const DEFAULT_AGENT = 'a';

export const createClient = (
  { runtime, gated }: Life,
  { scope, resolve }: Pick<Ground, 'scope' | 'resolve'>,
) => {
  const agentFor = (thread: string, named: string | undefined) =>
    resolve(named ?? runtime.lastAgent(scope, thread) ?? DEFAULT_AGENT);

  const submit = async (
    thread: string,
    { mode, text, into, stream }: Pick<Input, 'mode' | 'text' | 'into' | 'stream'>,
    { agent, named }: { agent: ReturnType<Ground['resolve']>; named: boolean },
  ) => {
    const { run_id, dispatch_id, status } = await runtime.submit(scope, thread, {
      mode,
      agent,
      named,
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      origin: 'user',
      adapter: 'internal',
      ...(into !== undefined && { into }),
      ...(stream && {
        attach: (channel) => {
          const leave = channel.attach(nativeProtocol, {
            write: (frames) => stream.events.push(...eventsIn(frames)),
            end() {
              stream.ended = true;
            },
          });
          stream.leave = () => {
            stream.left = true;
            leave();
          };
        },
      }),
    });
    return { run_id, dispatch_id, how: status };
  };

  return {
    /** POST /v1/runs, POST /v1/threads/:id/messages, POST /v1/threads/:id/mailbox */
    say: (input: Input, route: 'runs' | 'messages' | 'mailbox') =>
      answerOf(async () => {
        const { thread, agent: named } = input;
        if (route === 'messages' && !gated.store.threads.get(scope, thread))
          throw new NotFound(`thread not found: ${thread}`);
        return submit(thread, input, { agent: agentFor(thread, named), named: named !== undefined });
      }),
    /** POST /v1/runs/:id/inputs */
    inputTo: (input: Input, id: string) =>
      answerOf(async () => {
        const run = gated.store.runs.get(scope, id);
        if (!run) throw new NotFound(`run not found: ${id}`);
        return submit(run.thread_id, { ...input, into: id }, { agent: resolve(run.agent_id), named: true });
      }),
    decide: (kind: 'run' | 'thread', id: string, decision: Parameters<typeof runtime.decide>[3]) =>
      answerOf(async () => {
        await runtime.decide(scope, id, kind, decision);
        return {};
      }),
    cancel: (kind: 'run' | 'thread', id: string) =>
      answerOf(async () => {
        await runtime.cancel(scope, id, kind);
        return {};
      }),
    interrupt: (thread: string) => answerOf(async () => ({ count: await runtime.interrupt(scope, thread) })),
    remove: (thread: string) =>
      answerOf(async () => {
        await runtime.threads.remove(scope, thread, 'detach');
        return {};
      }),
  };
};

const eventsIn = (frames: string): RunEvent[] =>
  frames
    .split('\n\n')
    .filter((frame) => frame !== '')
    // The encoder under test writes events of this type.
    .map((frame) => JSON.parse(frame.slice('data: '.length)) as RunEvent);
