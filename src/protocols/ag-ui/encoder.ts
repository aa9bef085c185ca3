import type { Message as AgUiMessage, JsonPatch } from '@ag-ui/core';
import type { Encoder, Protocol } from '../../runtime/run/live-channel.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import { failureOf } from '../../schema/run-failure.ts';
import { isBudgetTicket } from '../../tools/tickets.ts';
import {
  type Answer,
  beginReasoning,
  beginText,
  closeMessages,
  closeStep,
  createAnswer,
  encryptedReasoning,
  forgetMessages,
  openStep,
  reasoningIdOf,
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
 * Converts run events to events of AG-UI (chat-and-agui.md 12, 13.1).
 *
 * Guarantees: for any events, the stream passes the verification of the official client. A run starts before any of its
 * events, deltas and arguments are inside open messages and calls, everything is closed before the end, and only a
 * continuation follows the end of a run. Events that a reset or a cancel voids are revoked by a snapshot of the
 * conversation, if the encoder has one. The same events and the same conversation produce the same bytes.
 * Relies on events in the order of one run, and on patches of plugins being JSON Patches.
 * Cost: two concatenations and one `JSON.stringify` per text delta.
 */

export type AgUiOptions = {
  /** Calls whose results the client sent with the request as tool messages. */
  answered?: readonly string[];
  /** Pending tickets that an earlier response reported. */
  waiting?: OpenTickets;
  /**
   * Returns the stored conversation with the ids of the client. `waits` returns whether the result of a call is a
   * placeholder. If absent, as in a replay of one run, nothing is revoked.
   */
  known?: (waits: (call_id: string) => boolean) => AgUiMessage[];
  /** Omits the additions to the protocol that support older clients. */
  strict?: boolean;
};

/** Readers with the same options receive the same frames and share an encoder. Pending tickets are the same for all. */
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
  readonly known: AgUiOptions['known'];
  answer: Answer;
  /** The client shows a call that was cancelled while its message continued; the next commit omits the call. */
  owesSnapshot: boolean;
  readonly strict: boolean;
  phase: 'before' | 'running' | 'over';
};

export const createAgUiEncoder = ({
  answered,
  waiting,
  known,
  strict = false,
}: AgUiOptions = {}): Encoder => {
  const state: State = {
    answered: new Set(answered),
    calls: createCalls(),
    tickets: new Map(waiting),
    known,
    answer: createAnswer(),
    owesSnapshot: false,
    strict,
    phase: 'before',
  };
  return {
    event(event) {
      noteTickets(state.tickets, event);
      return encode(state, event);
    },
    // Clients up to 0.0.49 reject a delta without text.
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
  // The handler of an event type accepts events of that type.
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
    const closed = closeAll(state) + owedSnapshot(state);
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
  tool_call_cancel: (state, { id }) => cancelCall(state, id),
  tool_call_executing: nothing,
  tool_call_stream_delta: ({ calls }, event) => outputGrown(calls, event),
  tool_call_done: ({ calls }, event) => (event.result.status === 'pending' ? '' : callDone(calls, event)),
  tool_call_resumed: ({ answered, calls }, event) =>
    answered.has(event.target_id) || isBudgetTicket(event.target_id) ? '' : callResumed(calls, event),
  inference_complete: nothing,
  stream_reset: (state) => takeBack(state),
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

/** Revokes everything that the current inference has emitted. The step may continue with the same message. */
const takeBack = (state: State): string => {
  const { answer, calls } = state;
  const closed = closeMessages(answer) + closeCalls(calls);
  const { hasText, reasoned } = answer;
  const isShown = hasText || reasoned || calls.states.size > 0;
  forgetMessages(answer);
  forgetCalls(calls);
  return isShown ? closed + snapshot(state, reasoned) : closed;
};

const cancelCall = (state: State, id: string): string => {
  const ended = callEnded(state.calls, id);
  if (ended !== '') state.owesSnapshot = true;
  return ended;
};

const owedSnapshot = (state: State): string => (state.owesSnapshot ? snapshot(state, false) : '');

const snapshot = (state: State, voidsReasoning: boolean): string => {
  const { answer, known, tickets } = state;
  state.owesSnapshot = false;
  if (!known) return '';
  const messages = known((call_id) => tickets.has(call_id));
  // The official client keeps all reasoning if a snapshot contains none.
  if (voidsReasoning && !messages.some(({ role }) => role === 'reasoning'))
    messages.push({ id: reasoningIdOf(answer.messageId), role: 'reasoning', content: '' });
  return frame('MESSAGES_SNAPSHOT', { messages });
};

/**
 * A run that was interrupted by the end of its process starts again; for the client, it is the same run in progress.
 */
const start = (state: State, event: RunEventOf<'run_start'>): string => {
  if (state.phase === 'running') return closeAll(state);
  const { thread_id, run_id, parent_run_id } = event;
  state.phase = 'running';
  state.answer = createAnswer(run_id);
  forgetCalls(state.calls);
  return frame('RUN_STARTED', { threadId: thread_id, runId: run_id, parentRunId: parent_run_id });
};

/**
 * A run that ends before it started has failed or was cancelled: an error may be the first event, any other end
 * requires a start.
 */
const finish = (state: State, event: RunEventOf<'run_finish'>): string => {
  const { thread_id, run_id, termination, result } = event;
  const run = { threadId: thread_id, runId: run_id };
  const failure = failureOf(termination);
  const opening = state.phase === 'before' && !failure ? frame('RUN_STARTED', run) : '';
  const before = opening + closeAll(state) + owedSnapshot(state);
  state.phase = 'over';
  if (failure) return before + frame('RUN_ERROR', failure);
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

// The emitters of these events write JSON Patches (runtime.md 6.2).
const asPatch = (operations: unknown): JsonPatch => operations as JsonPatch;
