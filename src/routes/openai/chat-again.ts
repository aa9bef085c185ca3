import { z } from 'zod';
import type { RouteRequest } from '../../http/route.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { ENDS_ONLY } from '../../protocols/ends-only.ts';
import type { LegEncoder, LegOptions } from '../../protocols/openai/chat-encoder.ts';
import { isLastLeg, replayChatLeg } from '../../protocols/openai/chat-replay.ts';
import { runHeaders, STREAM_HEADERS } from '../../protocols/openai/response-headers.ts';
import type { ShownWaits } from '../../protocols/openai/waits.ts';
import type { Channel } from '../../runtime/index.ts';
import type { EndedLeg } from '../../schema/activation.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { Message } from '../../schema/message.ts';
import { NotFound } from '../../schema/outcome.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { readEventsFrom } from '../replay.ts';
import type { Admitted } from './chat-admission.ts';
import { waitsOfRun } from './chat-input.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/**
 * Chat completions for repeated requests with an `Idempotency-Key` (runtime.md 0.8), when the first response has ended
 * or was begun by an earlier process.
 *
 * Guarantees: no run is started. While the run executes, the response follows its end.
 */

/** The stored part of an accepted request. */
const CreatedChat = z.object({
  scope: z.string(),
  thread_id: z.string(),
  run_id: z.string(),
  /** When the request arrived, in milliseconds. */
  from: z.number(),
  leg: z.object({ number: z.int(), seq: z.int() }),
  /** Seconds. */
  created: z.int(),
  fingerprint: z.string(),
  is_keyed: z.boolean(),
});
export type CreatedChat = z.infer<typeof CreatedChat>;

/** Returns what the commit that accepts a request stores. */
export const createdChat = (
  { place, leg: { number, seq }, isKeyed }: Admitted,
  { created, fingerprint }: Pick<LegOptions, 'created' | 'fingerprint'>,
  { run_id, from }: { run_id: string; from: number },
): CreatedChat => ({
  scope: place.scope,
  thread_id: place.id,
  run_id,
  from,
  leg: { number, seq },
  created,
  fingerprint,
  is_keyed: isKeyed,
});

export type Again = {
  headers: Record<string, string>;
  /** Returns the frames of the leg; undefined while it has not ended. @throws NotFound */
  read(createEncoder: (options: LegOptions) => LegEncoder): string | undefined;
  /** Resolves when the run has ended or waits, or when its stream was ended by a stop of the service. */
  ended(): Promise<void>;
  /** The stream of the leg. */
  stream(createEncoder: (options: LegOptions) => LegEncoder): EventStream;
};

type RequestOptions = Pick<LegOptions, 'model' | 'includesUsage' | 'tellsProgress'>;

/** @throws NotFound */
export const openAgain = (
  deps: OpenAiDeps,
  { principal }: Pick<RouteRequest<unknown, unknown, unknown>, 'principal'>,
  { options, created }: { options: RequestOptions; created: JsonObject },
): Again => {
  const { access, runtime, log } = deps;
  const chat = CreatedChat.parse(created);
  const { scope, thread_id, run_id } = chat;
  const reading = access.reading('thread', { scope, id: thread_id }, 'read');
  if (!reading.isAllowed(principal)) throw notFound(run_id);
  const headers = runHeaders(chat);
  const read: Again['read'] = (createEncoder) => {
    const run = deps.store.runs.get(scope, run_id);
    if (!run) throw notFound(run_id);
    return readLeg(deps, { chat, run }, (more) => createEncoder({ ...options, ...more }));
  };
  const follow = (attach: (channel: Channel) => void): Promise<boolean> =>
    runtime.follow({ run_id, thread_id }, scope, attach);
  return {
    headers,
    read,
    ended: () =>
      new Promise((resolve, reject) => {
        const attach = (channel: Channel): void => {
          channel.attach(ENDS_ONLY, { write() {}, end: resolve });
        };
        follow(attach).then((isFollowed) => isFollowed || resolve(), reject);
      }),
    stream(createEncoder) {
      const stream = createEventStream({ headers: { ...STREAM_HEADERS, ...headers }, reading });
      const end = (): void => {
        try {
          stream.write(read(createEncoder) ?? '');
        } catch (err) {
          // A reader that cannot be served must not fail the run.
          log.error('run.replay_failed', { err, thread_id, run_id });
        }
        stream.end();
      };
      const text = read(createEncoder);
      if (text !== undefined) {
        stream.write(text);
        stream.end();
        return stream;
      }
      const attach = (channel: Channel): void => {
        stream.onClose(channel.attach(ENDS_ONLY, { write() {}, end }));
      };
      follow(attach).then((isFollowed) => isFollowed || end(), end);
      return stream;
    },
  };
};

type CreatedOptions = Omit<LegOptions, keyof RequestOptions>;

const readLeg = (
  { store, events, settings, fileLink }: OpenAiDeps,
  { chat, run }: { chat: CreatedChat; run: RunRecord },
  createEncoder: (options: CreatedOptions) => LegEncoder,
): string | undefined => {
  const { scope, thread_id, run_id, from, leg, created, fingerprint, is_keyed } = chat;
  const isLast = isLastLeg({ run, number: leg.number });
  const ended = isLast
    ? undefined
    : run.activation?.options.leg?.ended?.find(({ number }) => number === leg.number);
  const until = isLast ? Number.MAX_SAFE_INTEGER : (ended?.to_seq ?? leg.seq);
  const rows = Array.from(store.messages.ofRun(scope, thread_id, run_id, {})).filter(
    ({ seq }) => seq <= until,
  );
  const history = rows.map(({ message }) => message);
  const before = rows.filter(({ seq }) => seq <= leg.seq).length;
  const [stopped] = store.stopped
    .range(scope, thread_id, { from: leg.seq })
    .filter((each) => each.run_id === run_id);
  const functions = new Set(run.activation?.options.frontend_tools?.map(({ id }) => id));
  const encoder = createEncoder({
    created,
    fingerprint,
    leg: leg.number,
    seq: before,
    isKeyed: is_keyed,
    fileLink,
    isClientTool: (name) => functions.has(name),
    history: () => history,
    waits: () => (ended ? endedWaits(ended, history) : waitsOfRun(isLast ? run : undefined)),
    holdsWaits: false,
  });
  const hasLog = events !== undefined && settings.event_capture_mode !== 'disabled';
  return replayChatLeg(hasLog ? readEventsFrom(store, scope, { run_id }, 1) : [], encoder, {
    run,
    number: leg.number,
    from,
    messages: history.slice(before),
    stopped: stopped?.message,
  });
};

/** The waits of the run at the end of a request that a later one has continued. */
const endedWaits = ({ calls, text }: EndedLeg, history: readonly Message[]): ShownWaits => ({
  ...waitsOfRun(undefined),
  calls: history
    .flatMap(({ tool_calls = [] }) => tool_calls)
    .filter(({ id }) => calls.includes(id))
    .map(({ id, name, arguments: args }) => ({ tool_call_id: id, tool_name: name, arguments: args })),
  message: text,
});

const notFound = (run_id: string): NotFound => new NotFound(`run not found: ${run_id}`);
