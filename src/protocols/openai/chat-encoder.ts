import type { Encoder } from '../../runtime/run/live-channel.ts';
import type { Message } from '../../schema/message.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import type { ResponseUsage } from '../../schema/stored-response.ts';
import {
  BREAK,
  type ClientCall,
  callBegins,
  callEnds,
  clientCalls,
  endOfLeg,
  type FileLink,
  type FinishReason,
  type LegEnd,
  type LegStatus,
  messagesOfLeg,
  statusOfLeg,
  textsBehind,
  usageBody,
} from './chat-leg.ts';
import { errorBody, failedRun } from './errors.ts';
import { completionId } from './ids.ts';
import { addUsage, NO_USAGE } from './usage.ts';
import type { ShownWaits } from './waits.ts';

/**
 * Converts run events to chunks of a chat completion (openai.md 6.4).
 *
 * Guarantees: the first chunk has the role, the last one the reason of the end, and `[DONE]` follows only an end of the
 * leg. The texts of a stream, joined, are the content of the same completion without a stream. Withdrawn text stays,
 * because the protocol cannot withdraw any.
 * Relies on events in the order of one run, and on `stored` and `waits` at the end of a leg: calls of the client are
 * reported then, so that a withdrawn completion leaves none.
 * Cost: two concatenations and one `JSON.stringify` per text delta.
 */

export type LegOptions = {
  model: string;
  /** Seconds. */
  created: number;
  fingerprint: string;
  /** Number of the leg within its run. */
  leg: number;
  /** Number of the last message of the thread before the leg. */
  seq: number;
  includesUsage: boolean;
  tellsProgress: boolean;
  /** Whether the client can return to the thread. */
  isKeyed: boolean;
  /** Names of functions of the client. */
  isClientTool(name: string): boolean;
  /** Returns the history of the thread, with everything that was written for the run. */
  history(): readonly Message[];
  fileLink: FileLink;
  /** Returns what the run waits for. */
  waits(run_id: string): ShownWaits;
  /** Whether the leg stays open while the run waits for a person. */
  holdsWaits: boolean;
};

/** The encoder of a leg, which a wait may hold open. */
export type LegEncoder = Encoder & {
  /** Whether the run waits, and its leg is open. */
  isHeld(): boolean;
  /** Returns how the leg has ended; undefined before its end. */
  status(): LegStatus | undefined;
  /** Ends a held leg, and returns its last frames. */
  release(): string;
};

/** A client executes its functions only when the leg has ended. */
export const holds = (
  { holdsWaits, waits }: Pick<LegOptions, 'holdsWaits' | 'waits'>,
  { run_id, termination }: RunEventOf<'run_finish'>,
): boolean => {
  if (!holdsWaits || termination.type !== 'suspended') return false;
  const { calls, permissions, questions } = waits(run_id);
  return calls.length === 0 && permissions.length + questions.length > 0;
};

export const DONE = 'data: [DONE]\n\n';

const CHUNK_END = '}\n\n';

type State = {
  readonly options: LegOptions;
  /** Beginning of each chunk, up to its choices; empty before the first event. */
  head: string;
  /** Beginning of a delta of text; empty while the next one begins a text or the leg is over. */
  contentHead: string;
  reasoningHead: string;
  hasText: boolean;
  isOver: boolean;
  truncated: boolean;
  spent: ResponseUsage;
  /** The end of the stream of a run that waits while its leg is open. */
  held: RunEventOf<'run_finish'> | undefined;
  status: LegStatus | undefined;
};

export const createChatEncoder = (options: LegOptions): LegEncoder => {
  const state: State = {
    options,
    head: '',
    contentHead: '',
    reasoningHead: '',
    hasText: false,
    isOver: false,
    truncated: false,
    spent: NO_USAGE,
    held: undefined,
    status: undefined,
  };
  return {
    status: () => state.status,
    isHeld: () => state.held !== undefined,
    release() {
      const { held } = state;
      state.held = undefined;
      return held ? finish(state, held) : '';
    },
    event: (event) => (state.isOver ? '' : encode(state, event)),
    text(delta) {
      if (state.contentHead !== '') return state.contentHead + JSON.stringify(delta) + DELTA_END;
      return state.isOver ? '' : beginText(state, delta);
    },
    reasoning: (delta) =>
      state.reasoningHead === '' ? '' : state.reasoningHead + JSON.stringify(delta) + DELTA_END,
    toolDelta: () => '',
  };
};

/** A delta has the fields that every chunk must have: the first and the last chunk have the others. */
const DELTA_END = `},"finish_reason":null}]${CHUNK_END}`;

const deltaHead = (head: string, field: string): string =>
  `${head.replace(SERVICE_TIER, '')}"choices":[{"index":0,"delta":{"${field}":`;

/** Quotation marks in the name of a model are escaped. */
const SERVICE_TIER = '"service_tier":"default",';

const encode = (state: State, event: RunEvent): string => {
  switch (event.event_type) {
    case 'run_start':
      return begin(state, event.run_id);
    case 'step_start':
      state.contentHead = '';
      return '';
    case 'text_delta':
      return beginText(state, event.delta);
    case 'reasoning_delta':
      return reasoning(state, event.delta);
    case 'inference_complete':
      state.spent = addUsage(state.spent, event.usage);
      state.truncated = event.truncated === true;
      return '';
    case 'tool_call_ready':
      return progress(state, event.name, () => callBegins(event.name, event.arguments));
    case 'tool_call_done':
      return event.outcome === 'suspended'
        ? ''
        : progress(state, event.result.tool_name, () =>
            callEnds(event.result.tool_name, event.outcome === 'failed'),
          );
    case 'run_finish':
      if (!holds(state.options, event)) return finish(state, event);
      state.held = event;
      return '';
    case 'error':
      return fail(state, { message: event.message, ...(event.code !== undefined && { code: event.code }) });
    default:
      return '';
  }
};

/** A run that was interrupted by the end of its process starts again; its completion continues. */
const begin = (state: State, run_id: string): string => {
  state.held = undefined;
  if (state.head !== '') return '';
  const { options } = state;
  state.head = headOf(options, completionId({ run_id, leg: options.leg }));
  state.reasoningHead = deltaHead(state.head, 'reasoning_content');
  return state.head + OPENING;
};

const headOf = ({ created, model, fingerprint, includesUsage }: LegOptions, id: string): string => {
  const fields = {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    service_tier: 'default',
    system_fingerprint: fingerprint,
    ...(includesUsage && { usage: null }),
  };
  return `data: ${JSON.stringify(fields).slice(0, -1)},`;
};

const chunk = ({ head }: State, delta: object): string => head + choiceOf(delta);

/** The part of a chunk after its head. */
const choiceOf = (delta: object, finish_reason: FinishReason | null = null): string =>
  `"choices":${JSON.stringify([{ index: 0, delta, logprobs: null, finish_reason }])}${CHUNK_END}`;

const OPENING = choiceOf({ role: 'assistant', content: '', refusal: null });

const ENDINGS: Readonly<Record<FinishReason, string>> = {
  stop: choiceOf({}, 'stop'),
  tool_calls: choiceOf({}, 'tool_calls'),
  length: choiceOf({}, 'length'),
  content_filter: choiceOf({}, 'content_filter'),
};

/** The text of a later step begins with a blank line. */
const beginText = (state: State, delta: string): string => {
  if (delta === '' || state.head === '') return '';
  if (state.contentHead !== '') return state.contentHead + JSON.stringify(delta) + DELTA_END;
  state.contentHead = deltaHead(state.head, 'content');
  const text = state.hasText ? BREAK + delta : delta;
  state.hasText = true;
  return state.contentHead + JSON.stringify(text) + DELTA_END;
};

const reasoning = ({ reasoningHead }: State, delta: string): string =>
  reasoningHead === '' || delta === '' ? '' : reasoningHead + JSON.stringify(delta) + DELTA_END;

const progress = (state: State, name: string, text: () => string): string => {
  const { tellsProgress, isClientTool } = state.options;
  return tellsProgress && !isClientTool(name) ? reasoning(state, text()) : '';
};

const finish = (state: State, { run_id, termination }: RunEventOf<'run_finish'>): string => {
  const { options, truncated } = state;
  const { history, seq, isKeyed, fileLink } = options;
  const waits = options.waits(run_id);
  const end = endOfLeg(termination, { truncated, waits });
  state.status = statusOfLeg(end, termination);
  const opened = begin(state, run_id);
  if (end.kind === 'failed') return opened + fail(state, end.failure);
  const behind = textsBehind(messagesOfLeg(history(), seq, run_id), { waits, isKeyed, fileLink });
  const texts = behind.map((text) => {
    state.contentHead = '';
    return beginText(state, text);
  });
  const calls = clientCalls(waits.calls, history(), run_id).map((call, index) =>
    callChunks(state, call, index),
  );
  return opened + texts.join('') + calls.join('') + lastChunks(state, end);
};

const callChunks = (state: State, { id, name, arguments: args }: ClientCall, index: number): string =>
  chunk(state, { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }) +
  chunk(state, { tool_calls: [{ index, function: { arguments: args } }] });

const lastChunks = (
  state: State,
  { finish_reason, refusal }: Extract<LegEnd, { kind: 'finished' }>,
): string => {
  const { head, options, spent } = state;
  const refused = refusal === null ? '' : chunk(state, { refusal });
  const last = head + ENDINGS[finish_reason];
  const usage = options.includesUsage
    ? `${head.replace('"usage":null,', '')}"choices":[],"usage":${JSON.stringify(usageBody(spent))}${CHUNK_END}`
    : '';
  close(state);
  return refused + last + usage + DONE;
};

const fail = (state: State, failure: { message: string; code?: string }): string => {
  state.status = 'failed';
  close(state);
  return `data: ${JSON.stringify(errorBody(failedRun(failure)))}\n\n${DONE}`;
};

const close = (state: State): void => {
  state.isOver = true;
  state.contentHead = '';
  state.reasoningHead = '';
};
