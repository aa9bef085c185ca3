import type { RunEventOf, Ticket, ToolResult } from '../../schema/run-event.ts';
import { asksForConsent } from '../../schema/run-state.ts';
import { shownJson, shownText } from '../../tools/media-text.ts';
import { grow, growingText, grownText } from './growing-text.ts';
import { callId } from './ids.ts';
import { addItem, beginDeltas, delta, emit, type Place } from './open-output.ts';
import { callResult, type McpCallItem, outputText } from './output.ts';
import {
  type Call,
  callsOf,
  type EarlierCall,
  FIRST,
  idOf,
  MORE,
  type State,
  stored,
} from './response-state.ts';
import { closeOpen, wholeMessage } from './response-texts.ts';

/**
 * Calls of a response (openai-responses.md 7.4, 7.5): functions of the client are streamed one after the other, and calls
 * of the agent execute concurrently.
 */

export const earlierCall = ({ name, step, ordinal, arguments: args, approved }: EarlierCall): Call => ({
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

export const callStarted = (state: State, id: string, name: string): string => {
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
  callsOf(state).set(id, call);
  state.callsOfStep += 1;
  state.calls += 1;
  if (!isFunction) return closed;
  if (!isOtherOpen) return closed + openFunction(state, id, call);
  call.state = 'waits';
  return closed;
};

const openFunction = (state: State, id: string, call: Call): string => {
  const { output, row } = state;
  const { run_id } = row;
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
  state.open = { kind: 'function', place: added.place, text: growingText(call.held) };
  beginDeltas(added.place, 'arguments_deltas');
  return added.frames + (call.held === '' ? '' : delta(output, added.place, call.held));
};

export const argumentsGrown = (state: State, id: string, text: string): string => {
  const call = state.known?.get(id);
  if (!call?.isFunction || text === '') return '';
  if (call.state === 'waits') {
    call.held += text;
    return '';
  }
  if (call.state !== 'open' || !call.place || !state.open) return '';
  if (state.open.kind === 'function') grow(state.open.text, text);
  return delta(state.output, call.place, text);
};

export const callReady = (state: State, id: string, args: string): string => {
  const call = state.known?.get(id);
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
  // Some clients read deltas only, and some models stream none.
  const isEmpty = state.open?.kind === 'function' && grownText(state.open.text) === '';
  const whole = isEmpty ? delta(state.output, place, call.arguments) : '';
  place.item.arguments = call.arguments;
  return whole + closeOpen(state, 'completed');
};

/** Opens the next function call that was streamed while another one was open. */
const nextFunction = (state: State): string => {
  for (const [id, call] of callsOf(state)) {
    if (call.state !== 'waits') continue;
    const opened = openFunction(state, id, call);
    return call.isReady ? opened + endFunction(state, call) + nextFunction(state) : opened;
  }
  return '';
};

/** The call is not part of the completion. */
export const callWithdrawn = (state: State, id: string): string => {
  const call = state.known?.get(id);
  if (!call || call.state === 'done') return '';
  callsOf(state).delete(id);
  if (!call.place) return '';
  call.place.kept.void = true;
  call.state = 'done';
  return state.open?.place === call.place ? closeOpen(state, 'incomplete') + nextFunction(state) : '';
};

/** The completion begins again. */
export const callsWithdrawn = (state: State): string => {
  if (!state.known) return '';
  let closed = '';
  const { known } = state;
  const ofStep = [...known].filter(([, { step, place }]) => step === state.step && !isResult(place));
  for (const [, call] of ofStep) {
    if (call.state === 'waits') call.state = 'done';
  }
  for (const [id, call] of ofStep) {
    closed += callWithdrawn(state, id);
    if (call.place) call.place.kept.void = true;
    known.delete(id);
  }
  state.calls -= state.callsOfStep;
  state.callsOfStep = 0;
  return closed;
};

const isResult = (place: Place | undefined): boolean => place?.item.type === 'mcp_call';

export const callExecutes = (state: State, id: string): string => {
  const call = state.known?.get(id);
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
export const endCall = ({ output }: State, call: Call, result: CallResult | undefined): string => {
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

export const callDone = (state: State, { id, result, outcome }: RunEventOf<'tool_call_done'>): string => {
  const call = state.known?.get(id);
  if (!call) return '';
  if (outcome !== 'suspended') return endCall(state, call, resultOf(result));
  if (call.isFunction || !result.suspension) return '';
  const ended = endCall(state, call, undefined);
  return (
    ended +
    (asksForConsent({ ...result.suspension, reason: result.suspension.suspension.action })
      ? approvalAsked(state, id, call)
      : questionAsked(state, id, call, result.suspension))
  );
};

/** The text that the model reads, as far as events contain it. */
const resultOf = ({ status, data, message }: ToolResult): CallResult => ({
  text: message === null ? shownJson(data).text : shownText(message).text,
  isFailed: status === 'error',
});

export const callResumed = (
  state: State,
  { target_id, action, result }: RunEventOf<'tool_call_resumed'>,
): string => {
  const call = state.known?.get(target_id);
  return !call || action === 'cancel' ? '' : endCall(state, call, resumedResult(result));
};

/** The result of a call that a decision has continued, as its event contains it. */
const resumedResult = (result: RunEventOf<'tool_call_resumed'>['result']): CallResult => {
  const fields: Record<string, unknown> =
    typeof result === 'object' && result !== null && !Array.isArray(result) ? result : {};
  if (typeof fields.error === 'string') return { text: shownText(fields.error).text, isFailed: true };
  const data =
    Object.keys(fields).join() === 'data,metadata' ? (result as { data: typeof result }).data : result;
  return { text: shownJson(data).text, isFailed: false };
};

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
