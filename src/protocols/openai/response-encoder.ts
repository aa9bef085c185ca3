import { lastEventOf, type ResponseStatus } from '../../../machines/response.ts';
import type { Encoder } from '../../runtime/run/live-channel.ts';
import { AUTH_REQUIRED } from '../../schema/authorization.ts';
import type { RunEvent, RunEventOf, Ticket, ToolResult } from '../../schema/run-event.ts';
import type { ResponseUsage, StoredItem, StoredItemType } from '../../schema/stored-response.ts';
import { shownJson, shownText } from '../../tools/media-text.ts';
import { type CreateResource, DONE, responseFrame } from './events.ts';
import { callId, type ItemPrefix, outputItemId } from './ids.ts';
import {
  addItem,
  beginDeltas,
  createOutput,
  delta,
  emit,
  note,
  type Output,
  type OutputState,
  type Place,
  restart,
} from './open-output.ts';
import {
  callResult,
  citations,
  type McpCallItem,
  type OutputItem,
  outputText,
  type Source,
} from './output.ts';

/**
 * Converts the events of a run to those of one leg of a response (openai-responses.md 7.4, 7.5).
 *
 * Guarantees: the order of the reference for any events; numbers that increase by one; only event and item types that
 * OpenAI defines, because its clients throw at others. Items do not nest, except calls of the agent, which execute
 * concurrently. The same events produce the same bytes. The marks of its events and the items suffice to create the
 * frames again (`replay.ts`).
 * Relies on `seal` being called with the commit that ends the leg, before the last event of the run.
 * Cost: two concatenations and one `JSON.stringify` per delta.
 */

/** A call of an earlier leg that this one continues. */
export type EarlierCall = {
  step: number;
  ordinal: number;
  name: string;
  arguments: string;
  approved?: string;
};

export type ResponseOptions = {
  run_id: string;
  /** Steps of the run before this leg. */
  step: number;
  /** Names of the functions that the client executes. */
  functions: ReadonlySet<string>;
  /** Whether reasoning items contain the encrypted value of the provider. */
  encrypted: boolean;
  /** Calls of the run that wait, by their ids. */
  earlier: ReadonlyMap<string, EarlierCall>;
  /** The output so far, of a leg that an earlier process began. */
  begun?: OutputState;
  /** Calls of the run before this leg, or before the process. */
  calls: number;
  /** Creates the resource for events about the whole response, from the items so far. */
  resource: CreateResource;
};

export type Ending = { status: ResponseStatus; refusal?: string | undefined };

export type ResponseEncoder = Encoder & {
  /** Returns the first events; `queued`: the run has not started. Nothing once they were emitted. */
  begin(queued: boolean): string;
  /**
   * Closes the output: the events that do so are emitted with the last event of the run. `row` writes the end of the
   * leg, of which the last event reports the resource.
   */
  seal(ending: Ending, row: () => void): void;
  readonly output: Output;
  /** Returns the items of the output, the open one with its text so far. */
  items(): readonly OutputItem[];
  /** Number of the first event that `seal` has created and that is emitted with the last event of the run. */
  readonly heldFrom: number | undefined;
  readonly usage: ResponseUsage | undefined;
  /** Whether the last completion was cut off at its limit of tokens. */
  readonly truncated: boolean;
  readonly calls: number;
};

/** The first item of a kind within a step has a fixed position, and calls follow in their order. */
const FIRST = { reasoning: 0, message: 1, call: 2 } as const;
/** Further texts of a step, which calls have interrupted. */
const MORE = 0x80;
const REFUSAL = 0xff;

type Call = {
  name: string;
  step: number;
  ordinal: number;
  n: number;
  arguments: string;
  isReady: boolean;
  isFunction: boolean;
  approved: string | undefined;
  /** Streamed while another item is open. */
  held: string;
  state: 'new' | 'waits' | 'open' | 'done';
  place: Place | undefined;
};

type State = ResponseOptions & {
  readonly output: Output;
  readonly known: Map<string, Call>;
  /** The open text, reasoning or function call. */
  open: { kind: 'message' | 'reasoning' | 'function'; place: Place; text: string } | undefined;
  step: number;
  isCounted: boolean;
  /** The output of the step was withdrawn, and the step is repeated. */
  isVoid: boolean;
  callsOfStep: number;
  partsOfStep: number;
  textOfStep: { message: number; reasoning: number };
  calls: number;
  encryptedValue: string | undefined;
  /** Sources of the step that no item contains yet. */
  sources: Source[];
  usage: ResponseUsage | undefined;
  truncated: boolean;
  phase: 'before' | 'queued' | 'running' | 'sealed' | 'over';
  closing: string;
  heldFrom: number;
};

export const createResponseEncoder = (options: ResponseOptions): ResponseEncoder => {
  const { begun, calls, step } = options;
  const state: State = {
    ...options,
    output: createOutput(begun),
    known: new Map(),
    open: undefined,
    step: step - 1,
    isCounted: true,
    isVoid: false,
    callsOfStep: 0,
    partsOfStep: 0,
    textOfStep: { message: 0, reasoning: 0 },
    calls,
    encryptedValue: undefined,
    sources: [],
    usage: undefined,
    truncated: false,
    phase: begun && begun.events.length > 0 ? 'running' : 'before',
    closing: '',
    heldFrom: 0,
  };
  for (const [id, call] of options.earlier) state.known.set(id, earlierCall(call));
  return {
    output: state.output,
    get heldFrom() {
      return state.phase === 'sealed' ? state.heldFrom : undefined;
    },
    get usage() {
      return state.usage;
    },
    get truncated() {
      return state.truncated;
    },
    get calls() {
      return state.calls;
    },
    items() {
      if (state.open) setText(state.open);
      return state.output.items;
    },
    begin: (queued) => begin(state, queued),
    seal(ending, row) {
      if (state.phase === 'sealed' || state.phase === 'over') return row();
      state.heldFrom = state.output.next;
      state.closing = close(state, ending, row);
      state.phase = 'sealed';
    },
    event(event) {
      if (event.event_type === 'run_start') return begin(state, false);
      if (event.event_type === 'run_finish') return finish(state);
      // The handler of an event type accepts events of that type.
      const handle = HANDLERS[event.event_type] as ((of: State, event: RunEvent) => string) | undefined;
      return state.phase === 'running' ? (handle?.(state, event) ?? '') : '';
    },
    text: (text) => (state.phase === 'running' && text !== '' ? textGrown(state, text) : ''),
    reasoning: (text) => (state.phase === 'running' && text !== '' ? reasoningGrown(state, text) : ''),
    toolDelta: (id, text) => (state.phase === 'running' ? argumentsGrown(state, id, text) : ''),
  };
};

const earlierCall = ({ name, step, ordinal, arguments: args, approved }: EarlierCall): Call => ({
  name,
  step,
  ordinal,
  n: 0,
  arguments: args,
  isReady: true,
  isFunction: false,
  approved,
  held: '',
  state: 'new',
  place: undefined,
});

const begin = (state: State, queued: boolean): string => {
  const { output, phase, resource } = state;
  const about = (name: 'created' | 'queued' | 'in_progress', status: ResponseStatus): string =>
    responseFrame(`response.${name}`, note(output, name), resource(status));
  if (phase === 'before') {
    state.phase = queued ? 'queued' : 'running';
    const first = queued ? 'queued' : 'in_progress';
    return about('created', first) + about(first, first);
  }
  if (phase !== 'queued' || queued) return '';
  state.phase = 'running';
  return about('in_progress', 'in_progress');
};

/** A run that was ended without an execution emits its end only. */
const finish = (state: State): string => {
  const { closing, phase } = state;
  state.phase = 'over';
  state.closing = '';
  return phase === 'sealed' ? closing : '';
};

const close = (state: State, { status, refusal }: Ending, row: () => void): string => {
  const { output, resource } = state;
  const opening = begin(state, false);
  const isWhole = status === 'completed';
  let closed = opening + closeOpen(state, isWhole ? 'completed' : 'incomplete');
  for (const call of state.known.values()) closed += endCall(state, call, undefined);
  if (refusal !== undefined) closed += refused(state, refusal);
  const type = lastEventOf(status);
  const number = note(output, 'last');
  row();
  return type === undefined ? closed : closed + responseFrame(type, number, resource(status)) + DONE;
};

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
    state.sources = [];
    state.truncated = false;
    return closed;
  },
  step_end: (state) => (state.isVoid ? '' : closeOpen(state, 'completed')),
  text_delta: (state, { delta: text }) => (text === '' ? '' : textGrown(state, text)),
  reasoning_delta: (state, { delta: text }) => (text === '' ? '' : reasoningGrown(state, text)),
  reasoning_encrypted_value: (state, { encrypted_value }) => {
    state.encryptedValue = encrypted_value;
    return '';
  },
  tool_call_start: (state, { id, name }) => callStarted(state, id, name),
  tool_call_delta: (state, { id, args_delta }) => argumentsGrown(state, id, args_delta),
  tool_call_ready: (state, { id, name, arguments: args }) => {
    const started = state.known.has(id) ? '' : callStarted(state, id, name);
    return started + callReady(state, id, JSON.stringify(args));
  },
  tool_call_cancel: (state, { id }) => callWithdrawn(state, id),
  tool_call_executing: (state, { id }) => callExecutes(state, id),
  tool_call_done: (state, event) => callDone(state, event),
  tool_call_resumed: (state, { target_id, action, result }) => {
    const call = state.known.get(target_id);
    if (!call || action === 'cancel') return '';
    return endCall(state, call, resumedResult(result));
  },
  activity_snapshot: (state, { activity_type, content }) => {
    const source = activity_type === 'source-url' ? sourceIn(content) : undefined;
    if (source) state.sources.push(source);
    return '';
  },
  inference_complete: (state, { usage, truncated }) => {
    state.isCounted = true;
    state.truncated = truncated === true;
    const sum = state.usage ?? { input: 0, output: 0, cached: 0, written: 0, reasoning: 0 };
    state.usage = {
      input: sum.input + (usage?.prompt_tokens ?? 0),
      output: sum.output + (usage?.completion_tokens ?? 0),
      cached: sum.cached + (usage?.cache_read_tokens ?? 0),
      written: sum.written + (usage?.cache_creation_tokens ?? 0),
      reasoning: sum.reasoning + (usage?.thinking_tokens ?? 0),
    };
    return '';
  },
  stream_reset: (state) => {
    state.isVoid = true;
    if (state.open?.kind === 'function') return callsWithdrawn(state);
    const withdrawn = callsWithdrawn(state);
    state.sources = [];
    state.textOfStep = { message: 0, reasoning: 0 };
    if (state.open) {
      state.open.text = '';
      restart(state.output, state.open.place);
    }
    return withdrawn;
  },
};

const idOf = ({ run_id }: State, prefix: ItemPrefix, { step, ordinal }: { step: number; ordinal: number }) =>
  outputItemId({ prefix, run_id, step, ordinal });

/** The first text of a step has its own place; a further one follows an interruption. */
const placeOfText = (state: State, kind: 'message' | 'reasoning') => {
  const isFirst = state.textOfStep[kind] === 0;
  const ordinal = isFirst ? FIRST[kind] : MORE + (state.partsOfStep++ % 0x70);
  return { step: state.step, ordinal };
};

const stored = (
  id: string,
  type: StoredItemType,
  step: number,
  more: Partial<StoredItem> = {},
): StoredItem => ({ id, type, step, ...more });

const textGrown = (state: State, text: string): string => {
  const { open, output } = state;
  if (open?.kind === 'message') {
    open.text += text;
    return delta(output, open.place, text);
  }
  const closed = closeOpen(state, 'completed');
  const place = placeOfText(state, 'message');
  const id = idOf(state, 'msg', place);
  const from = state.textOfStep.message;
  const added = addItem(
    output,
    { id, type: 'message', role: 'assistant', content: [outputText('')], status: 'in_progress' },
    stored(id, 'message', state.step, from > 0 ? { from } : {}),
  );
  const part = emit(output, 'part_added', added.place);
  beginDeltas(added.place, 'text_deltas');
  state.open = { kind: 'message', place: added.place, text };
  return closed + added.frames + part + delta(output, added.place, text);
};

const reasoningGrown = (state: State, text: string): string => {
  const { open, output } = state;
  if (open?.kind === 'reasoning') {
    open.text += text;
    return delta(output, open.place, text);
  }
  const closed = closeOpen(state, 'completed');
  const place = placeOfText(state, 'reasoning');
  const id = idOf(state, 'rs', place);
  const from = state.textOfStep.reasoning;
  const added = addItem(
    output,
    { id, type: 'reasoning', summary: [{ type: 'summary_text', text: '' }], status: 'in_progress' },
    stored(id, 'reasoning', state.step, from > 0 ? { from } : {}),
  );
  const part = emit(output, 'summary_part_added', added.place);
  beginDeltas(added.place, 'summary_deltas');
  state.open = { kind: 'reasoning', place: added.place, text };
  return closed + added.frames + part + delta(output, added.place, text);
};

/** @param callFollows whether a call of the same step interrupts the text */
const closeOpen = (state: State, status: 'completed' | 'incomplete', callFollows = false): string => {
  const { open } = state;
  state.open = undefined;
  if (!open) return '';
  return CLOSE[open.kind](state, open, { status, callFollows });
};

type Open = NonNullable<State['open']>;

const setText = ({ place: { item }, text }: Open): void => {
  if (item.type === 'message') item.content = [outputText(text)];
  if (item.type === 'reasoning') item.summary = [{ type: 'summary_text', text }];
  if (item.type === 'function_call') item.arguments = text;
};
type Closing = { status: 'completed' | 'incomplete'; callFollows: boolean };

const CLOSE: Readonly<Record<Open['kind'], (state: State, open: Open, closing: Closing) => string>> = {
  message(state, { place, text }, { status, callFollows }) {
    const { output } = state;
    const { item, kept } = place;
    noteText(state, 'message', kept, text, callFollows);
    const annotations = citations(state.sources.splice(0), text.length);
    if (item.type === 'message') {
      item.content = [outputText(text, annotations)];
      item.phase = callFollows || state.callsOfStep > 0 ? 'commentary' : 'final_answer';
      item.status = status;
    }
    if (status === 'incomplete') kept.incomplete = true;
    return (
      annotations.map((_, index) => emit(output, 'annotation', place, index)).join('') +
      emit(output, 'text_done', place) +
      emit(output, 'part_done', place) +
      emit(output, 'item_done', place)
    );
  },
  reasoning(state, { place, text }, { status }) {
    const { output } = state;
    const { item, kept } = place;
    noteText(state, 'reasoning', kept, text, false);
    if (item.type === 'reasoning') {
      item.summary = [{ type: 'summary_text', text }];
      if (state.encrypted) item.encrypted_content = state.encryptedValue ?? null;
      item.status = status;
    }
    if (status === 'incomplete') kept.incomplete = true;
    return (
      emit(output, 'summary_done', place) +
      emit(output, 'summary_part_done', place) +
      emit(output, 'item_done', place)
    );
  },
  function(state, { place, text }, { status }) {
    const { item, kept } = place;
    if (item.type === 'function_call') {
      item.status = status;
      if (status === 'incomplete') item.arguments = text;
    }
    if (status === 'incomplete') kept.incomplete = true;
    const { output } = state;
    return emit(output, 'arguments_done', place) + emit(output, 'item_done', place);
  },
};

/** Notes the part of the text of the step that the item contains. */
const noteText = (
  state: State,
  kind: 'message' | 'reasoning',
  kept: StoredItem,
  text: string,
  isInterrupted: boolean,
): void => {
  const from = state.textOfStep[kind];
  state.textOfStep[kind] = from + text.length;
  if (isInterrupted || from > 0) kept.to = from + text.length;
};

const callStarted = (state: State, id: string, name: string): string => {
  const isFunction = state.functions.has(name);
  const call: Call = {
    name,
    step: state.step,
    ordinal: FIRST.call + state.callsOfStep,
    n: state.calls,
    arguments: '',
    isReady: false,
    isFunction,
    approved: undefined,
    held: '',
    state: 'new',
    place: undefined,
  };
  const isOtherOpen = state.open?.kind === 'function';
  const closed = isOtherOpen ? '' : closeOpen(state, 'completed', true);
  state.known.set(id, call);
  state.callsOfStep += 1;
  state.calls += 1;
  if (!isFunction) return closed;
  if (!isOtherOpen) return closed + openFunction(state, id, call);
  call.state = 'waits';
  return closed;
};

const openFunction = (state: State, id: string, call: Call): string => {
  const { output, run_id } = state;
  const item_id = idOf(state, 'fc', call);
  const { name, n, step } = call;
  const added = addItem(
    output,
    {
      id: item_id,
      type: 'function_call',
      call_id: callId({ run_id, ordinal: n }),
      name,
      arguments: call.arguments,
      status: 'in_progress',
    },
    stored(item_id, 'function_call', step, { call: id, n }),
  );
  call.state = 'open';
  call.place = added.place;
  state.open = { kind: 'function', place: added.place, text: call.held };
  beginDeltas(added.place, 'arguments_deltas');
  return added.frames + (call.held === '' ? '' : delta(output, added.place, call.held));
};

const argumentsGrown = (state: State, id: string, text: string): string => {
  const call = state.known.get(id);
  if (!call?.isFunction || text === '') return '';
  if (call.state === 'waits') {
    call.held += text;
    return '';
  }
  if (call.state !== 'open' || !call.place || !state.open) return '';
  state.open.text += text;
  return delta(state.output, call.place, text);
};

const callReady = (state: State, id: string, args: string): string => {
  const call = state.known.get(id);
  if (!call) return '';
  call.arguments = args;
  call.isReady = true;
  if (!call.isFunction || call.state !== 'open') return '';
  return endFunction(state, call) + nextFunction(state);
};

const endFunction = (state: State, call: Call): string => {
  call.state = 'done';
  const { place } = call;
  if (place?.item.type !== 'function_call') return '';
  place.item.arguments = call.arguments;
  return closeOpen(state, 'completed');
};

/** Opens the next function call that was streamed while another one was open. */
const nextFunction = (state: State): string => {
  for (const [id, call] of state.known) {
    if (call.state !== 'waits') continue;
    const opened = openFunction(state, id, call);
    return call.isReady ? opened + endFunction(state, call) + nextFunction(state) : opened;
  }
  return '';
};

/** The call is not part of the completion. */
const callWithdrawn = (state: State, id: string): string => {
  const call = state.known.get(id);
  if (!call || call.state === 'done') return '';
  state.known.delete(id);
  if (!call.place) return '';
  call.place.kept.void = true;
  call.state = 'done';
  return state.open?.place === call.place ? closeOpen(state, 'incomplete') + nextFunction(state) : '';
};

/** The completion begins again. */
const callsWithdrawn = (state: State): string => {
  let closed = '';
  const ofStep = [...state.known].filter(([, { step, place }]) => step === state.step && !isResult(place));
  for (const [, call] of ofStep) {
    if (call.state === 'waits') call.state = 'done';
  }
  for (const [id, call] of ofStep) {
    closed += callWithdrawn(state, id);
    if (call.place) call.place.kept.void = true;
    state.known.delete(id);
  }
  state.calls -= state.callsOfStep;
  state.callsOfStep = 0;
  return closed;
};

const isResult = (place: Place | undefined): boolean => place?.item.type === 'mcp_call';

const callExecutes = (state: State, id: string): string => {
  const call = state.known.get(id);
  if (!call || call.isFunction || call.state === 'open') return '';
  const { output } = state;
  const closed = closeOpen(state, 'completed', true);
  const item_id = idOf(state, 'mcp', call);
  const { name, arguments: args, approved = null, step, n } = call;
  const item: McpCallItem = {
    id: item_id,
    type: 'mcp_call',
    server_label: 'troupe',
    name,
    arguments: args,
    output: null,
    error: null,
    approval_request_id: approved,
    status: 'in_progress',
  };
  const kept = stored(item_id, 'mcp_call', step, { call: id, n, ...(approved !== null && { approved }) });
  const added = addItem(output, item, kept);
  const { place } = added;
  call.state = 'open';
  call.place = place;
  beginDeltas(place, 'mcp_arguments_deltas');
  return (
    closed +
    added.frames +
    emit(output, 'mcp_in_progress', place) +
    delta(output, place, args) +
    emit(output, 'mcp_arguments_done', place)
  );
};

type CallResult = { text: string; isFailed: boolean };

/** @param result undefined for a call that is not finished when the leg ends */
const endCall = ({ output }: State, call: Call, result: CallResult | undefined): string => {
  const { place } = call;
  if (call.state !== 'open' || place?.item.type !== 'mcp_call') return '';
  call.state = 'done';
  if (!result) {
    place.item.status = 'incomplete';
    place.kept.incomplete = true;
    return emit(output, 'item_done', place);
  }
  Object.assign(place.item, callResult(result.text, result.isFailed));
  if (result.isFailed) place.kept.failed = true;
  return emit(output, 'mcp_ended', place) + emit(output, 'item_done', place);
};

const callDone = (state: State, { id, result, outcome }: RunEventOf<'tool_call_done'>): string => {
  const call = state.known.get(id);
  if (!call) return '';
  if (outcome !== 'suspended') return endCall(state, call, resultOf(result));
  if (call.isFunction || !result.suspension) return '';
  const ended = endCall(state, call, undefined);
  return (
    ended +
    (asksPermission(result.suspension)
      ? approvalAsked(state, id, call)
      : questionAsked(state, id, call, result.suspension))
  );
};

/** The text that the model reads, as far as events contain it. */
const resultOf = ({ status, data, message }: ToolResult): CallResult => ({
  text: message === null ? shownJson(data).text : shownText(message).text,
  isFailed: status === 'error',
});

/** The result of a call that a decision has continued, as its event contains it. */
const resumedResult = (result: RunEventOf<'tool_call_resumed'>['result']): CallResult => {
  const fields: Record<string, unknown> =
    typeof result === 'object' && result !== null && !Array.isArray(result) ? result : {};
  if (typeof fields.error === 'string') return { text: shownText(fields.error).text, isFailed: true };
  const data =
    Object.keys(fields).join() === 'data,metadata' ? (result as { data: typeof result }).data : result;
  return { text: shownJson(data).text, isFailed: false };
};

/** Whether a decision allows the call, here or where a delegate waits, or its user has to connect an account. */
export const asksPermission = ({ resume_mode, suspension: { action } }: Ticket): boolean =>
  resume_mode === 'replay_tool_call' ||
  action === AUTH_REQUIRED ||
  action === 'agent_delegate:suspended' ||
  action === 'agent_delegate:auth_required';

const approvalAsked = (state: State, id: string, call: Call): string => {
  const { output } = state;
  const item_id = idOf(state, 'mcpr', call);
  const { name, arguments: args, n, step } = call;
  const added = addItem(
    output,
    {
      id: item_id,
      type: 'mcp_approval_request',
      server_label: 'troupe',
      name,
      arguments: args,
      status: 'completed',
    },
    stored(item_id, 'mcp_approval_request', step, { call: id, n, asked: { name, arguments: args } }),
  );
  return added.frames + emit(output, 'item_done', added.place);
};

const questionAsked = (state: State, id: string, call: Call, { suspension }: Ticket): string => {
  const text = suspension.message ?? suspension.action;
  return wholeMessage(state, { step: call.step, ordinal: MORE + call.ordinal }, outputText(text), {
    call: id,
    text,
  });
};

const refused = (state: State, reason: string): string =>
  wholeMessage(
    state,
    { step: Math.max(state.step, 0), ordinal: REFUSAL },
    { type: 'refusal', refusal: reason },
    { text: reason, refusal: true },
  );

const wholeMessage = (
  state: State,
  at: { step: number; ordinal: number },
  part: ReturnType<typeof outputText> | { type: 'refusal'; refusal: string },
  more: Partial<StoredItem>,
): string => {
  const { output } = state;
  const id = idOf(state, 'msg', at);
  const { place, frames } = addItem(
    output,
    { id, type: 'message', role: 'assistant', content: [part], phase: 'final_answer', status: 'completed' },
    stored(id, 'message', at.step, more),
  );
  const isRefusal = part.type === 'refusal';
  beginDeltas(place, isRefusal ? 'refusal_deltas' : 'text_deltas');
  return (
    frames +
    emit(output, 'part_added', place) +
    delta(output, place, isRefusal ? part.refusal : part.text) +
    emit(output, isRefusal ? 'refusal_done' : 'text_done', place) +
    emit(output, 'part_done', place) +
    emit(output, 'item_done', place)
  );
};

const sourceIn = (content: unknown): Source | undefined => {
  if (typeof content !== 'object' || content === null) return undefined;
  const { url, title }: Record<string, unknown> = { ...content };
  return typeof url === 'string' ? { url, title: typeof title === 'string' ? title : '' } : undefined;
};
