import type { JsonPatch } from '@ag-ui/core';
import type { Encoder, Protocol } from '../../runtime/channel.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import {
  type Answer,
  beginReasoning,
  beginText,
  closeMessages,
  closeStep,
  createAnswer,
  encryptedReasoning,
  openStep,
} from './answer.ts';
import {
  argumentsGrown,
  type Calls,
  callDone,
  callEnded,
  callReady,
  callResumed,
  callStarted,
  closeCalls,
  createCalls,
  forgetCalls,
  isOpen,
  outputGrown,
} from './calls.ts';
import { DELTA_END, frame } from './frames.ts';
import { noteTickets, type OpenTickets, runSuspended } from './interrupts.ts';
import { toAgUiMessages } from './messages.ts';

/**
 * Run events to events of AG-UI (chat-and-agui.md 12, 13.1).
 *
 * Guarantees: whatever the events, the stream is one that the official client's verification lets through: a run
 * begins before anything of it, deltas and arguments are inside of what is open, everything is closed before the
 * end, nothing follows the end of a run but the start of its continuation. Pure: the same events give the same bytes.
 * Relies on events in the order of one run, and on patches of plugins being JSON Patches. Costs two concatenations
 * and one `JSON.stringify` a text delta.
 */

export type AgUiOptions = {
  /** Calls whose results came with the request as tool messages: the client has them. */
  answered?: readonly string[];
  /** What the run has been waiting for since an earlier response. */
  waiting?: OpenTickets;
  /** Nothing that the protocol does not have is sent for the sake of older clients. */
  strict?: boolean;
};

/** Readers with the same options see the same frames, and share them. What a run waits for is the same for all. */
export const agUiProtocol = (options: AgUiOptions = {}): Protocol => ({
  name: ['ag-ui', options.strict && 'strict', options.answered?.length && JSON.stringify(options.answered)]
    .filter((part) => part)
    .join(':'),
  createEncoder: () => createAgUiEncoder(options),
});

type State = {
  readonly answered: ReadonlySet<string>;
  readonly calls: Calls;
  readonly tickets: OpenTickets;
  answer: Answer;
  readonly strict: boolean;
  phase: 'before' | 'running' | 'over';
};

export const createAgUiEncoder = ({ answered, waiting, strict = false }: AgUiOptions = {}): Encoder => {
  const state: State = {
    answered: new Set(answered),
    calls: createCalls(),
    tickets: new Map(waiting),
    answer: createAnswer(),
    strict,
    phase: 'before',
  };
  return {
    event(event) {
      noteTickets(state.tickets, event);
      return encode(state, event);
    },
    // Clients up to 0.0.49 refuse a delta without text.
    text(delta) {
      if (delta === '') return '';
      const { answer } = state;
      if (answer.textHead !== '') return answer.textHead + JSON.stringify(delta) + DELTA_END;
      return state.phase === 'running' ? beginText(answer, delta) : '';
    },
    reasoning(delta) {
      if (delta === '') return '';
      const { answer } = state;
      if (answer.reasoningHead !== '') return answer.reasoningHead + JSON.stringify(delta) + DELTA_END;
      return state.phase === 'running' ? beginReasoning(answer, delta) : '';
    },
    toolDelta: (id, delta) => (state.phase === 'running' ? argumentsGrown(state.calls, id, delta) : ''),
  };
};

type Handlers = { [T in RunEvent['event_type']]: (state: State, event: RunEventOf<T>) => string };

const encode = (state: State, event: RunEvent): string => {
  const { event_type } = event;
  const may = state.phase === 'running' || event_type === 'run_start';
  if (!may && !(state.phase === 'before' && isEnd(event_type))) return '';
  // The handler under the type of an event takes that event.
  const handle = HANDLERS[event_type] as (state: State, event: RunEvent) => string;
  return handle(state, event);
};

const isEnd = (event_type: RunEvent['event_type']): boolean =>
  event_type === 'run_finish' || event_type === 'error';

const nothing = (): string => '';

const closeAll = ({ answer, calls }: State): string =>
  closeMessages(answer) + closeCalls(calls) + closeStep(answer);

const HANDLERS: Handlers = {
  run_start: (state, event) => start(state, event),
  run_finish: (state, event) => finish(state, event),
  error: (state, { message, code }) => {
    const closed = closeAll(state);
    state.phase = 'over';
    return closed + frame('RUN_ERROR', { message, code });
  },
  step_start: (state, { message_id }) => {
    const closed = closeAll(state);
    forgetCalls(state.calls);
    return closed + openStep(state.answer, message_id);
  },
  step_end: closeAll,
  text_delta: ({ answer }, { delta }) => (delta === '' ? '' : beginText(answer, delta)),
  reasoning_delta: ({ answer }, { delta }) => {
    if (delta === '') return '';
    if (answer.reasoningHead === '') return beginReasoning(answer, delta);
    return answer.reasoningHead + JSON.stringify(delta) + DELTA_END;
  },
  reasoning_encrypted_value: ({ answer }, { encrypted_value }) => encryptedReasoning(answer, encrypted_value),
  tool_call_start: ({ answer, calls }, event) =>
    closeMessages(answer) + callStarted(calls, event, answer.messageId),
  tool_call_delta: ({ calls }, { id, args_delta }) => argumentsGrown(calls, id, args_delta),
  tool_call_ready: ({ answer, calls }, event) =>
    (isOpen(calls, event.id) ? '' : closeMessages(answer)) + callReady(calls, event, answer.messageId),
  tool_call_cancel: ({ calls }, { id }) => callEnded(calls, id),
  tool_call_stream_delta: ({ calls }, event) => outputGrown(calls, event),
  tool_call_done: ({ calls }, event) => (event.result.status === 'pending' ? '' : callDone(calls, event)),
  tool_call_resumed: ({ answered, calls }, event) =>
    answered.has(event.target_id) ? '' : callResumed(calls, event),
  inference_complete: nothing,
  stream_reset: nothing,
  state_snapshot: (_state, { snapshot }) => frame('STATE_SNAPSHOT', { snapshot }),
  state_delta: (_state, { delta }) => frame('STATE_DELTA', { delta: asPatch(delta) }),
  messages_snapshot: (_state, { messages }) =>
    frame('MESSAGES_SNAPSHOT', { messages: toAgUiMessages(messages) }),
  activity_snapshot: (_state, event) => activitySnapshot(event),
  activity_delta: (_state, { message_id, activity_type, patch }) =>
    frame('ACTIVITY_DELTA', {
      messageId: message_id,
      activityType: activity_type,
      patch: asPatch(patch),
    }),
};

/** A run that was cut off by the end of its process starts again: for the client it is the same run, still going on. */
const start = (state: State, event: RunEventOf<'run_start'>): string => {
  if (state.phase === 'running') return closeAll(state);
  const { thread_id, run_id, parent_run_id } = event;
  state.phase = 'running';
  state.answer = createAnswer(run_id);
  forgetCalls(state.calls);
  return frame('RUN_STARTED', { threadId: thread_id, runId: run_id, parentRunId: parent_run_id });
};

/** A run that ends before it started has failed, or was cancelled: an error may come first, any other end may not. */
const finish = (state: State, event: RunEventOf<'run_finish'>): string => {
  const { thread_id, run_id, termination, result } = event;
  const run = { threadId: thread_id, runId: run_id };
  const failed = termination.type === 'error';
  const begun = state.phase === 'before' && !failed ? frame('RUN_STARTED', run) : '';
  const before = begun + closeAll(state);
  state.phase = 'over';
  if (failed) return before + frame('RUN_ERROR', { message: termination.value });
  if (termination.type === 'suspended') return before + runSuspended(event, state.tickets, state.strict);
  return before + frame('RUN_FINISHED', { ...run, result });
};

const activitySnapshot = (event: RunEventOf<'activity_snapshot'>): string => {
  const { message_id, activity_type, content, replace } = event;
  const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
  return frame('ACTIVITY_SNAPSHOT', {
    messageId: message_id,
    activityType: activity_type,
    content: isObject ? content : { value: content },
    replace,
  });
};

// Whoever emits these events writes JSON Patches (runtime.md 6.2).
const asPatch = (operations: unknown): JsonPatch => operations as JsonPatch;
