import type { Encoder, Protocol } from '../../runtime/run/live-channel.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import { failureOf } from '../../schema/run-failure.ts';
import { activityDelta, activitySnapshot, isPart } from './activities.ts';
import {
  type Blocks,
  beginReasoning,
  beginText,
  closeBlocks,
  closeReasoning,
  closeStep,
  closeText,
  createBlocks,
  openStep,
  reasoningIdOf,
  resetBlocks,
  voidText,
} from './blocks.ts';
import {
  argumentsGrown,
  type Calls,
  callDone,
  callLost,
  callReady,
  callResumed,
  callStarted,
  callsLost,
  createCalls,
  type EarlierCalls,
  forgetCalls,
  outputGrown,
} from './calls.ts';
import type { FinishReason } from './chunks.ts';
import { DELTA_END, finish, frame, runInfo } from './frames.ts';
import { providerCall, providerCallsLost, type ShownProviderCalls } from './provider-calls.ts';

/**
 * Converts run events to frames of the chat streaming protocol, version 6 (chat-and-agui.md 4, 5).
 *
 * Guarantees: the official client accepts the frames of any events. A delta is inside an open block, blocks are closed
 * before their step and steps before the end, and only a continuation follows the end of a run. Pure: the same events
 * produce the same bytes.
 * Relies on events in the order of one run.
 * Cost: two concatenations and one `JSON.stringify` per text delta. Streamed output of a tool is sent whole each time,
 * because the protocol has no deltas of outputs.
 */

export type ChatOptions = {
  /** Id of the client message that the response continues. It contains the calls of the run. */
  continues?: string;
  /** Looks up earlier calls of the run for a client whose message is new. */
  earlier?: EarlierCalls;
};

/** Readers with the same options receive the same frames and share an encoder. */
export const chatProtocol = (options: ChatOptions = {}): Protocol => ({
  name: options.continues === undefined ? 'ai-sdk' : `ai-sdk:${options.continues}`,
  createEncoder: () => createChatEncoder(options),
});

type State = {
  readonly options: ChatOptions;
  readonly blocks: Blocks;
  readonly calls: Calls;
  readonly provided: ShownProviderCalls;
  /** Id of the message in the client. */
  answer: string | undefined;
  /** Set at the end of the run until it starts again. */
  over: boolean;
};

export const createChatEncoder = (options: ChatOptions = {}): Encoder => {
  const blocks = createBlocks();
  const state: State = {
    options,
    blocks,
    calls: createCalls(),
    provided: new Map(),
    answer: undefined,
    over: false,
  };
  return {
    event: (event) => (state.over && event.event_type !== 'run_start' ? '' : encode(state, event)),
    text(delta) {
      if (blocks.textHead !== '') return blocks.textHead + JSON.stringify(delta) + DELTA_END;
      return state.over ? '' : beginText(blocks, delta);
    },
    reasoning(delta) {
      if (blocks.reasoningHead !== '') return blocks.reasoningHead + JSON.stringify(delta) + DELTA_END;
      return state.over ? '' : beginReasoning(blocks, delta);
    },
    toolDelta: (id, delta) => (state.over ? '' : argumentsGrown(state.calls, id, delta)),
  };
};

type Handlers = { [T in RunEvent['event_type']]: (state: State, event: RunEventOf<T>) => string };

const encode = (state: State, event: RunEvent): string => {
  // The handler of an event type accepts events of that type.
  const handle = HANDLERS[event.event_type] as (state: State, event: RunEvent) => string;
  return handle(state, event);
};

const HANDLERS: Handlers = {
  run_start: (state, event) => start(state, event),
  run_finish: (state, { termination, result }) => {
    const closed = allLost(state) + closeStep(state.blocks) + structuredOutput(result);
    state.over = true;
    const failure = failureOf(termination);
    if (failure) return closed + errorFrame(failure.message) + finish('error');
    return closed + finish(FINISH[termination.type]);
  },
  error: (state, { message }) => {
    const closed = allLost(state) + closeStep(state.blocks);
    state.over = true;
    return closed + errorFrame(message);
  },
  step_start: (state, { message_id }) => {
    forgetCalls(state.calls);
    return openStep(state.blocks, message_id);
  },
  step_end: (state) => allLost(state) + (state.blocks.voided ? '' : closeStep(state.blocks)),
  text_delta: ({ blocks }, { delta }) => beginText(blocks, delta),
  reasoning_delta: ({ blocks }, { delta }) =>
    blocks.reasoningHead === ''
      ? beginReasoning(blocks, delta)
      : blocks.reasoningHead + JSON.stringify(delta) + DELTA_END,
  reasoning_encrypted_value: ({ blocks }, { encrypted_value }) =>
    frame('data-reasoning-encrypted', {
      data: { encryptedValue: encrypted_value },
      id: reasoningIdOf(blocks),
      transient: true,
    }),
  tool_call_start: ({ blocks, calls }, event) =>
    closeText(blocks) + closeReasoning(blocks) + callStarted(calls, event),
  tool_call_delta: ({ calls }, { id, args_delta }) => argumentsGrown(calls, id, args_delta),
  tool_call_ready: ({ calls }, event) => callReady(calls, event),
  tool_call_executing: () => '',
  tool_call_stream_delta: ({ calls, options }, event) => outputGrown(calls, event, options.earlier),
  tool_call_done: ({ calls, options }, event) => callDone(calls, event, options.earlier),
  tool_call_resumed: ({ calls, options }, event) => callResumed(calls, event, options.earlier),
  tool_call_cancel: ({ calls }, { id, reason }) => callLost(calls, id, reason),
  stream_reset: ({ blocks, calls }, event) =>
    callsLost(calls, event.reason) + closeReasoning(blocks) + retryOf(event) + voidText(blocks, event.text),
  // Without a cost the field is undefined, which JSON omits.
  inference_complete: (_state, { model, usage = null, cost_usd, duration_ms }) =>
    frame('data-inference-complete', {
      data: { model, usage, costUsd: cost_usd, durationMs: duration_ms },
    }),
  state_snapshot: (_state, { snapshot }) => frame('data-state-snapshot', { data: snapshot }),
  state_delta: (_state, { delta }) => frame('data-state-delta', { data: delta }),
  messages_snapshot: (_state, { messages }) => frame('data-messages-snapshot', { data: messages }),
  activity_snapshot: ({ blocks, provided }, event) => {
    const call = providerCall(provided, event);
    if (call !== undefined) return closeBlocks(blocks) + call + activitySnapshot(event);
    return (isPart(event) ? closeText(blocks) : '') + activitySnapshot(event);
  },
  activity_delta: (_state, event) => activityDelta(event),
};

/** The client keeps one part for all retries of a message, because they have one id. */
const retryOf = ({ error, attempt, max_attempts }: RunEventOf<'stream_reset'>): string =>
  error === undefined || attempt === undefined || max_attempts === undefined
    ? ''
    : frame('data-retry', { id: 'retry', data: { error, attempt, maxAttempts: max_attempts } });

/** Ends the open calls, which will not complete. */
const allLost = ({ calls, provided }: State): string =>
  callsLost(calls, CUT_OFF) + providerCallsLost(provided, CUT_OFF);

/** A run that was interrupted by the end of its process has left parts open. */
const start = (state: State, { run_id, thread_id, turn_id }: RunEventOf<'run_start'>): string => {
  const { blocks, calls, options } = state;
  const closed = allLost(state) + closeStep(blocks);
  resetBlocks(blocks, run_id);
  const messageId = options.continues ?? turn_id ?? run_id;
  if (state.answer !== messageId) calls.shown.clear();
  state.answer = messageId;
  state.over = false;
  return closed + frame('start', { messageId }) + runInfo({ runId: run_id, threadId: thread_id });
};

const structuredOutput = (result: RunEventOf<'run_finish'>['result']): string =>
  result?.structured_output === undefined
    ? ''
    : frame('data-structured-output', { data: result.structured_output });

const CUT_OFF = 'the call was cut off';

const errorFrame = (errorText: string): string => frame('error', { errorText });

const FINISH: Record<RunEventOf<'run_finish'>['termination']['type'], FinishReason> = {
  natural_end: 'stop',
  behavior_requested: 'stop',
  stopped: 'stop',
  cancelled: 'stop',
  blocked: 'content-filter',
  suspended: 'tool-calls',
  error: 'error',
};
