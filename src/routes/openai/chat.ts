import type { z } from 'zod';
import { EVENT_STREAM, TRACE_HEADERS } from '../../http/described.ts';
import { JSON_TYPE, type Reply, reply } from '../../http/reply.ts';
import { type RouteRequest, route } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import { type ChatAnswer, createChatAnswer } from '../../protocols/openai/chat-answer.ts';
import { ChatBody, decodeChat } from '../../protocols/openai/chat-decode.ts';
import { createChatEncoder, type LegEncoder, type LegOptions } from '../../protocols/openai/chat-encoder.ts';
import {
  MAY_RETRY,
  NO_RETRY,
  OPENAI_ERRORS,
  OpenAiError,
  openAiErrors,
  timedOut,
} from '../../protocols/openai/errors.ts';
import { unixSeconds } from '../../protocols/openai/ids.ts';
import { runHeaders, STREAM_HEADERS } from '../../protocols/openai/response-headers.ts';
import type { Channel } from '../../runtime/index.ts';
import type { JsonObject } from '../../schema/json.ts';
import { may, mayStill } from '../../schema/principal.ts';
import type { Reading as StreamReading } from '../../schema/reader.ts';
import { hasTag } from '../../schema/run-state.ts';
import { timerMs } from '../../schema/timer.ts';
import { clientOf } from '../protocol-runs.ts';
import type { Accepted, Admitted, ChatCall, Joining } from './chat-admission.ts';
import { createdChat, openAgain } from './chat-again.ts';
import { waitsOfRun } from './chat-input.ts';
import { ChatChunk, ChatCompletion } from './chat-schemas.ts';
import { submitChat } from './chat-submit.ts';
import { createHangUps, type HangUps, nameOfChat, nameOfThread } from './hang-ups.ts';
import { agentOfModel, TAG } from './models.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/** Chat completions: each one is a durable run, or a part of one (openai.md 6). */

type ChatDeps = OpenAiDeps & { hangUps: HangUps };

type Request = RouteRequest<unknown, unknown, unknown>;

export const chatRoutes = (given: OpenAiDeps) => {
  const deps = { ...given, hangUps: createHangUps(given.settings.foreground_release_wait_ms) };
  return [
    route.post('/v1/chat/completions', {
      id: 'createOpenAiChatCompletion',
      summary: 'Start or continue a run with the messages of a chat',
      description:
        'The model is an agent. With `stream`, the response is a stream of chunks. A disconnect cancels the run, unless the request has an `Idempotency-Key`.',
      tag: TAG,
      needs: 'invoke',
      headers: [...TRACE_HEADERS, 'X-Troupe-Thread-Id'],
      errors: OPENAI_ERRORS,
      body: ChatBody as z.ZodType<unknown>,
      reads: 'anyJson',
      bodyLimit: 'attachments',
      idempotent: true,
      responses: {
        200: {
          description:
            'The completion; with `stream` its chunks as server-sent events, each in the `data` of one event, until `[DONE]`.',
          content: { [JSON_TYPE]: ChatCompletion, [EVENT_STREAM]: ChatChunk },
        },
        404: OPENAI_ERRORS.schema,
        409: OPENAI_ERRORS.schema,
        504: OPENAI_ERRORS.schema,
      },
      async handle(request) {
        const call = await callOf(deps, request);
        return call.request.isStream ? streamChat(deps, call) : completeChat(deps, call, request);
      },
      again: (request, created) => chatAgain(deps, request, created),
    }),
  ];
};

/** @throws OpenAiError */
const callOf = async (deps: ChatDeps, request: Request): Promise<ChatCall> => {
  const { header, body, principal, keyed } = request;
  const decoded = decodeChat(body);
  return {
    client: clientOf(request),
    agent: await agentOfModel(deps, principal, decoded.model),
    request: decoded,
    chat: firstHeader(header, deps.settings.openai.chat_id_headers),
    thread: header('x-troupe-thread-id') ?? decoded.thread_id,
    keyed,
  };
};

const firstHeader = (header: Request['header'], names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = header(name);
    if (value !== undefined) return value;
  }
  return undefined;
};

/** The options of the encoder of a leg. */
const legOptions = (
  { clock, fileLink, settings: { openai } }: ChatDeps,
  { request }: ChatCall,
  { leg, thread, isKeyed, resolution_id, functions }: Admitted,
): LegOptions => ({
  model: request.model,
  created: unixSeconds(clock.now()),
  fingerprint: `fp_${resolution_id}`,
  leg: leg.number,
  seq: leg.seq,
  includesUsage: request.includesUsage,
  tellsProgress: openai.tool_progress === 'reasoning',
  isKeyed,
  isClientTool: (name) => functions.has(name),
  history: thread.history,
  fileLink,
  waits: (run_id) => waitsOfRun(thread.run(run_id)),
  holdsWaits: openai.hold_waits_ms > 0,
});

/** The reader of one request, which ends with its leg. */
type Reading = {
  attach: (admitted: Admitted) => Joining;
  /** The client has disconnected: the run is cancelled unless others follow it. */
  hangUp(): void;
  accepted(run: Accepted): void;
};

/** The receiver of the frames of a leg. */
type Receiver = {
  encoderFor(options: LegOptions): LegEncoder;
  write(frames: string, count: number): void;
  end(): void;
};

type OpenReading = {
  readonly deps: ChatDeps;
  readonly call: ChatCall;
  readonly receiver: Receiver;
  /** Unique, because the frames depend on the request. */
  readonly name: string;
  channel: Channel | undefined;
  leave: () => void;
  run: Accepted | undefined;
  isGone: boolean;
  isEnded: boolean;
  /** Stops waiting for a decision that is made elsewhere. */
  stopHolding: (() => void) | undefined;
};

const createReading = (deps: ChatDeps, call: ChatCall, receiver: Receiver): Reading => {
  const reading: OpenReading = {
    deps,
    call,
    receiver,
    name: `openai ${deps.ids.uuid()}`,
    channel: undefined,
    leave: () => {},
    run: undefined,
    isGone: false,
    isEnded: false,
    stopHolding: undefined,
  };
  const from = deps.clock.now();
  return {
    attach: (admitted) => {
      const options = legOptions(deps, call, admitted);
      const encoder = receiver.encoderFor(options);
      return {
        attach: (channel) => join(reading, channel, encoder),
        keyed: call.keyed?.creates(({ run_id }) => createdChat(admitted, options, { run_id, from })),
      };
    },
    hangUp() {
      // The repeat of a request with a key is expected.
      if (reading.isEnded || reading.isGone || call.keyed) return;
      reading.isGone = true;
      reading.leave();
      // A run that waits for a decision is not in progress.
      if (reading.stopHolding) reading.stopHolding();
      else cancel(reading);
    },
    accepted(run) {
      reading.run = run;
      if (reading.isGone) cancel(reading);
    },
  };
};

const join = (reading: OpenReading, channel: Channel, encoder: LegEncoder): void => {
  const { name, receiver } = reading;
  reading.stopHolding?.();
  reading.channel = channel;
  reading.leave = channel.attach(
    { name, adapter: 'openai', createEncoder: () => encoder },
    {
      write: receiver.write,
      end() {
        if (encoder.isHeld() && reading.run && !reading.isGone) hold(reading, encoder, reading.run);
        else end(reading, encoder);
      },
    },
  );
};

const end = (reading: OpenReading, encoder: LegEncoder): void => {
  reading.isEnded = true;
  const status = encoder.status();
  if (status !== undefined) reading.deps.observe.legEnded(status);
  reading.receiver.end();
};

/** Keeps the request open until the run continues, or for a limited time. */
const hold = (reading: OpenReading, encoder: LegEncoder, { run_id, place }: Accepted): void => {
  const { deps, receiver } = reading;
  const forget = deps.heldRuns.hold(place.scope, run_id, (channel) => join(reading, channel, encoder));
  const timer = setTimeout(() => {
    reading.stopHolding?.();
    receiver.write(encoder.release(), 1);
    end(reading, encoder);
  }, timerMs(deps.settings.openai.hold_waits_ms)).unref();
  reading.stopHolding = () => {
    clearTimeout(timer);
    forget();
    reading.stopHolding = undefined;
  };
};

/** A request that ends with the rights of its caller continues, and so does a run that others follow. */
const cancel = ({ deps, call, run, channel }: OpenReading): void => {
  const { settings, runtime, hangUps, log } = deps;
  const { client, agent, chat } = call;
  if (!run || settings.openai.on_disconnect === 'continue' || channel?.isRead()) return;
  if (!mayStill(client.principal, ['invoke', agent.spec.id])) return;
  deps.observe.legEnded('cancelled');
  const { run_id, place } = run;
  const cancelled = runtime
    .cancelRun(place.scope, place.id, run_id)
    .then(() => runtime.untilInactive(place.scope, place.id, run_id));
  cancelled.catch((err) => log.warn('openai.cancel_failed', { err, run_id }));
  hangUps.begin(nameOfThread(place), cancelled);
  if (chat !== undefined) hangUps.begin(nameOfChat(place.scope, chat), cancelled);
};

const streamChat = async (deps: ChatDeps, call: ChatCall) => {
  const headers: Record<string, string> = { ...STREAM_HEADERS };
  const stream = createEventStream({ headers, reading: readingOf(call) });
  const reading = createReading(deps, call, {
    encoderFor: createChatEncoder,
    // A stream with a key is shared with its repeats, which replaces its functions.
    write: (frames, count) => stream.write(frames, count),
    end: () => stream.end(),
  });
  stream.onClose(reading.hangUp);
  const accepted = await submitChat(deps, call, reading.attach);
  Object.assign(headers, runHeaders({ run_id: accepted.run_id, thread_id: accepted.place.id }));
  reading.accepted(accepted);
  return stream;
};

/** The stream ends when its caller may no longer invoke the agent. */
const readingOf = ({ agent: { spec } }: ChatCall): StreamReading => ({
  right: 'write',
  isAllowed: (principal) => may(principal, ['invoke', spec.id]),
});

const completeChat = async (deps: ChatDeps, call: ChatCall, { hold, onGone }: Request) => {
  let answer: ChatAnswer | undefined;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const reading = createReading(deps, call, {
    encoderFor(options) {
      answer = createChatAnswer(options);
      return answer.encoder;
    },
    write() {},
    end: finish,
  });
  onGone(() => {
    reading.hangUp();
    // The completion of a request with a key is also that of its repeats.
    if (!call.keyed) finish();
  });
  const accepted = await submitChat(deps, call, reading.attach);
  const headers = runHeaders({ run_id: accepted.run_id, thread_id: accepted.place.id });
  hold();
  reading.accepted(accepted);
  const isInTime = await inTime(deps.settings.openai.blocking_wait_ms, finished);
  if (!isInTime) reading.hangUp();
  const outcome = answer?.outcome();
  const { scope } = accepted.place;
  // The stream of a run that continues after a restart ends with an error.
  const isOver = !(outcome instanceof OpenAiError) || isDone(deps, scope, accepted.run_id);
  return completionOf(isOver ? outcome : undefined, { headers, isInTime, isKeyed: call.keyed !== undefined });
};

/** A run has ended in the store before the last event of its stream. */
const isDone = ({ store }: Pick<ChatDeps, 'store'>, scope: string, run_id: string): boolean => {
  const run = store.runs.get(scope, run_id);
  return run === undefined || hasTag(run, 'done');
};

/** @throws OpenAiError */
const completionOf = (
  outcome: ReturnType<ChatAnswer['outcome']>,
  { headers, isInTime, isKeyed }: { headers: Record<string, string>; isInTime: boolean; isKeyed: boolean },
): Reply => {
  if (!isInTime) throw timedOut(headers, isKeyed);
  if (outcome instanceof OpenAiError) throw withHeaders(outcome, headers);
  if (!outcome) throw interrupted(headers, isKeyed);
  return reply(200, outcome, headers);
};

/** Responds to the repeat of an accepted request. @throws OpenAiError, NotFound */
const chatAgain = async (deps: ChatDeps, request: Request, created: JsonObject): Promise<unknown> => {
  const { model, includesUsage, isStream } = decodeChat(request.body);
  const tellsProgress = deps.settings.openai.tool_progress === 'reasoning';
  const options = { model, includesUsage, tellsProgress };
  const again = openAgain(deps, request, { options, created });
  if (isStream) return again.stream(createChatEncoder);
  const answerNow = (): ChatAnswer | undefined => {
    let answer: ChatAnswer | undefined;
    again.read((given) => {
      answer = createChatAnswer(given);
      return answer.encoder;
    });
    return answer;
  };
  const { headers } = again;
  const answer = answerNow();
  if (answer?.outcome()) return replyOf(answer, headers, request.requestId);
  request.hold();
  const isInTime = await inTime(deps.settings.openai.blocking_wait_ms, again.ended());
  const ended = isInTime ? answerNow() : undefined;
  return ended?.outcome()
    ? replyOf(ended, headers, request.requestId)
    : completionOf(undefined, { headers, isInTime, isKeyed: true });
};

/** The failure of a run is a response like any other. */
const replyOf = (answer: ChatAnswer, headers: Record<string, string>, requestId: string): Reply => {
  const outcome = answer.outcome();
  return outcome instanceof OpenAiError
    ? openAiErrors(withHeaders(outcome, headers), requestId)
    : reply(200, outcome, headers);
};

/** @param ms 0 means no limit */
const inTime = async (ms: number, finished: Promise<void>): Promise<boolean> => {
  if (ms === 0) {
    await finished;
    return true;
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timerMs(ms));
  });
  return Promise.race([finished.then(() => true as const), late]).finally(() => clearTimeout(timer));
};

const withHeaders = (
  { status, message, type, param, code, headers }: OpenAiError,
  more: Readonly<Record<string, string>>,
): OpenAiError => new OpenAiError(status, message, { type, param, code, headers: { ...more, ...headers } });

/** The service stops, and the run continues after its restart. A repeat without a key would start another run. */
const interrupted = (headers: Readonly<Record<string, string>>, isKeyed: boolean): OpenAiError =>
  new OpenAiError(503, 'The service is stopping; the run continues after its restart.', {
    type: 'server_error',
    code: 'overloaded',
    headers: { ...headers, ...(isKeyed ? MAY_RETRY : NO_RETRY) },
  });
