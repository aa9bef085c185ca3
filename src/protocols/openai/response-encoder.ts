import { isTerminalLeg, lastEventOf, type ResponseStatus } from '../../../machines/response.ts';
import type { Encoder } from '../../runtime/run/live-channel.ts';
import { fileIdIn } from '../../schema/file-url.ts';
import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import { DONE, responseFrame } from './events.ts';
import { createOutput, note, type Output, outputSoFar, restart } from './open-output.ts';
import type { OutputItem, Source } from './output.ts';
import { encodeResource, type ResponseResource, resourceOf } from './response.ts';
import {
  argumentsGrown,
  callDone,
  callExecutes,
  callReady,
  callResumed,
  callStarted,
  callsWithdrawn,
  callWithdrawn,
  earlierCall,
  endCall,
} from './response-calls.ts';
import { callsOf, type ResponseOptions, type State } from './response-state.ts';
import { closeOpen, noticed, refused, setText, textGrown } from './response-texts.ts';
import { encodeItem } from './shared-text.ts';
import { addUsage, NO_USAGE } from './usage.ts';

/**
 * Converts the events of a run to those of one leg of a response (openai-responses.md 7.4, 7.5).
 *
 * Guarantees: the order of the reference for any events; numbers that increase by one; only event and item types that
 * OpenAI defines, because its clients throw at others. Items do not nest, except calls of the agent, which execute
 * concurrently. The same events produce the same bytes. The marks of its events and the items suffice to create the
 * frames again (`replay.ts`).
 * Relies on `sealOutput` being called with the commit that ends the leg, before the last event of the run.
 * Cost: two concatenations and one `JSON.stringify` per delta.
 */

export type Ending = {
  status: ResponseStatus;
  refusal?: string | undefined;
  /** The reason of a wait that no item of a call shows. */
  notice?: string | undefined;
};

/** The functions below change the state, so that an open leg has no methods. */
export type ResponseEncoder = Encoder & { readonly state: State; readonly output: Output };

export const createResponseEncoder = ({
  row,
  step,
  functions,
  earlier,
  begun,
}: ResponseOptions): ResponseEncoder => {
  const state: State = {
    row,
    functions,
    output: createOutput(begun),
    known: undefined,
    open: undefined,
    step: step - 1,
    isCounted: true,
    isVoid: false,
    callsOfStep: 0,
    partsOfStep: 0,
    textOfStep: { message: 0, reasoning: 0 },
    calls: row.calls,
    files: row.files ?? NONE,
    encryptedValue: undefined,
    sources: NONE,
    usage: undefined,
    truncated: false,
    phase: begun && begun.events.length > 0 ? 'running' : 'before',
    closing: '',
    heldFrom: 0,
  };
  for (const [id, call] of earlier) callsOf(state).set(id, earlierCall(call));
  return {
    state,
    output: state.output,
    event: (event) => encode(state, event),
    text: (text, whole) =>
      state.phase === 'running' && text !== '' ? textGrown(state, 'message', text, whole) : '',
    reasoning: (text, whole) =>
      state.phase === 'running' && text !== '' ? textGrown(state, 'reasoning', text, whole) : '',
    toolDelta: (id, text) => (state.phase === 'running' ? argumentsGrown(state, id, text) : ''),
  };
};

const NONE: readonly never[] = [];

const encode = (state: State, event: RunEvent): string => {
  if (event.event_type === 'run_start') return begin(state, false);
  if (event.event_type === 'run_finish') return finish(state);
  // The handler of an event type accepts events of that type.
  const handle = HANDLERS[event.event_type] as ((of: State, event: RunEvent) => string) | undefined;
  return state.phase === 'running' ? (handle?.(state, event) ?? '') : '';
};

/**
 * Closes the output: the events that do so are emitted with the last event of the run. `row` writes the end of the
 * leg, of which the last event reports the resource.
 */
export const sealOutput = (state: State, ending: Ending, row: () => void): void => {
  if (state.phase === 'sealed' || state.phase === 'over') {
    row();
    return;
  }
  state.heldFrom = state.output.next;
  state.closing = close(state, ending, row);
  state.phase = 'sealed';
};

/** Returns the items of the output, the open one with its text so far. */
export const itemsOf = ({ open, output }: State): readonly OutputItem[] => {
  if (open) setText(open);
  return output.items;
};

/** Returns the number of the first event that `sealOutput` has created and that is emitted with the last event of the run. */
export const heldFrom = (state: State): number | undefined =>
  state.phase === 'sealed' ? state.heldFrom : undefined;

/** Returns the resource with this status, with the output of the time. */
export const resourceAt = (row: StoredResponse, output: Output, status: ResponseStatus): ResponseResource =>
  resourceOf(row, isTerminalLeg(status) ? outputSoFar(output) : NONE, status);

/** Returns the first events; `queued`: the run has not started. Nothing once they were emitted. */
export const begin = (state: State, queued: boolean): string => {
  const { output, phase } = state;
  const about = (name: 'created' | 'queued' | 'in_progress', response: string): string =>
    responseFrame(`response.${name}`, note(output, name), response);
  if (phase === 'before') {
    state.phase = queued ? 'queued' : 'running';
    const first = queued ? 'queued' : 'in_progress';
    const response = encodeResource(state.row, NONE, first);
    return about('created', response) + about(first, response);
  }
  if (phase !== 'queued' || queued) return '';
  state.phase = 'running';
  return about('in_progress', encodeResource(state.row, NONE, 'in_progress'));
};

/** A run that was ended without an execution emits its end only. */
const finish = (state: State): string => {
  const { closing, phase } = state;
  state.phase = 'over';
  state.closing = '';
  return phase === 'sealed' ? closing : '';
};

const close = (state: State, { status, refusal, notice }: Ending, row: () => void): string => {
  const { output } = state;
  const opening = begin(state, false);
  const isWhole = status === 'completed';
  let closed = opening + closeOpen(state, isWhole ? 'completed' : 'incomplete');
  if (state.known) for (const call of state.known.values()) closed += endCall(state, call, undefined);
  if (refusal !== undefined) closed += refused(state, refusal);
  if (notice !== undefined) closed += noticed(state, notice);
  const type = lastEventOf(status);
  const number = note(output, 'last');
  row();
  return type === undefined
    ? closed
    : closed + responseFrame(type, number, lastResource(state, status)) + DONE;
};

/** Returns the JSON of the resource at the end of its leg. */
const lastResource = ({ row, output }: State, status: ResponseStatus): string =>
  encodeResource(row, outputSoFar(output).map(encodeItem), status);

type Handlers = { readonly [T in RunEvent['event_type']]?: (state: State, event: RunEventOf<T>) => string };

const HANDLERS: Handlers = {
  step_start: (state) => {
    const isRepeated = !state.isCounted;
    if (!isRepeated) state.step += 1;
    const closed = state.isVoid ? '' : closeOpen(state, 'completed');
    if (!state.isVoid) state.partsOfStep = 0;
    state.isCounted = false;
    state.isVoid = false;
    state.callsOfStep = 0;
    state.textOfStep = { message: 0, reasoning: 0 };
    state.encryptedValue = undefined;
    state.sources = NONE;
    state.truncated = false;
    return closed;
  },
  step_end: (state) => (state.isVoid ? '' : closeOpen(state, 'completed')),
  text_delta: (state, { delta: text }) => (text === '' ? '' : textGrown(state, 'message', text)),
  reasoning_delta: (state, { delta: text }) => (text === '' ? '' : textGrown(state, 'reasoning', text)),
  reasoning_encrypted_value: (state, { encrypted_value }) => {
    state.encryptedValue = encrypted_value;
    return '';
  },
  tool_call_start: (state, { id, name }) => callStarted(state, id, name),
  tool_call_delta: (state, { id, args_delta }) => argumentsGrown(state, id, args_delta),
  tool_call_ready: (state, { id, name, arguments: args }) => {
    const started = state.known?.has(id) ? '' : callStarted(state, id, name);
    return started + callReady(state, id, JSON.stringify(args));
  },
  tool_call_cancel: (state, { id }) => callWithdrawn(state, id),
  tool_call_executing: (state, { id }) => callExecutes(state, id),
  tool_call_done: (state, event) => callDone(state, event),
  tool_call_resumed: (state, event) => callResumed(state, event),
  activity_snapshot: (state, { activity_type, content }) => {
    const source = activity_type === 'source-url' ? sourceIn(content) : undefined;
    if (source) state.sources = [...state.sources, source];
    const file = activity_type === 'file' ? fileIn(content) : undefined;
    if (file !== undefined && !state.files.includes(file)) state.files = [...state.files, file];
    return '';
  },
  inference_complete: (state, { usage, truncated }) => {
    state.isCounted = true;
    state.truncated = truncated === true;
    state.usage = addUsage(state.usage ?? NO_USAGE, usage);
    return '';
  },
  stream_reset: (state) => {
    state.isVoid = true;
    if (state.open?.kind === 'function') return callsWithdrawn(state);
    const withdrawn = callsWithdrawn(state);
    state.sources = NONE;
    state.textOfStep = { message: 0, reasoning: 0 };
    if (state.open) {
      state.open.whole = '';
      restart(state.output, state.open.place);
    }
    return withdrawn;
  },
};

/** Undefined for a file that is not stored. */
const fileIn = (content: unknown): string | undefined => {
  if (typeof content !== 'object' || content === null || !('url' in content)) return undefined;
  return typeof content.url === 'string' ? fileIdIn(content.url) : undefined;
};

const sourceIn = (content: unknown): Source | undefined => {
  if (typeof content !== 'object' || content === null) return undefined;
  const { url, title }: Record<string, unknown> = { ...content };
  return typeof url === 'string' ? { url, title: typeof title === 'string' ? title : '' } : undefined;
};
