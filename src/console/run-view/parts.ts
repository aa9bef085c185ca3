import { isObject } from '../data/guard.ts';
import type { LogEvent } from '../event-log/event.ts';
import type { Step } from '../live-charts/actors.ts';
import type { Ways } from '../run-course/machine.ts';

/**
 * The parts of a run: its tool calls, and the dispatches that it was executed for. Each is a record whose transitions a
 * machine decides, without an actor. Their states follow from the events of the run. Pure.
 */

export type PartMachine = 'tool-call' | 'dispatch';

/** A state, and the index of the event that led to it. */
type Move = { state: string; event: number };

export type Part = {
  id: string;
  machine: PartMachine;
  /** Name of the tool; empty for a dispatch. */
  name: string;
  begins: Move;
  moves: Move[];
};

/** State of a claimed dispatch after each end of its run. An interrupt has already superseded the dispatch. */
const ENDS: Readonly<Record<string, string>> = {
  RunFinished: 'acked',
  RunTerminated: 'acked',
  RunCancelled: 'acked',
  RunErrored: 'deadLetter',
};

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

type Found = { parts: Map<string, Part>; open: Map<string, Part> };

const stateOf = ({ begins, moves }: Part): string => moves.at(-1)?.state ?? begins.state;

const begin = ({ parts, open }: Found, key: string, part: Part): void => {
  parts.set(key, part);
  open.set(key, part);
};

const move = (part: Part | undefined, event: number, ...states: readonly string[]): void => {
  for (const state of states) {
    if (part && stateOf(part) !== state) part.moves.push({ state, event });
  }
};

const CALL_ENDS = ['succeeded', 'failed', 'cancelled'];

/** A suspended call passes the gate again before its tool is executed. */
const towardsTool = (call: Part): string[] =>
  stateOf(call) === 'suspended' ? ['resuming', 'running'] : ['running'];

/** The states that a call passes through with an event. */
const wayOf = (call: Part, event: LogEvent, next: LogEvent | undefined): readonly string[] => {
  const { event_kind: kind, payload } = event;
  if (CALL_ENDS.includes(stateOf(call))) return [];
  switch (kind) {
    case 'ToolCallSuspended': {
      // The gate suspends a call before its tool is executed, whereas a tool that suspends is already executing.
      const gateAsks = next?.event_kind === 'ToolPermissionRequested' && next.payload.id === payload.id;
      const way = stateOf(call) === 'suspended' ? ['resuming'] : [];
      return [...way, ...(gateAsks ? [] : ['running']), 'suspended'];
    }
    case 'ToolCallRejected':
      return ['failed'];
    case 'ToolCallTimedOut':
      return [...towardsTool(call), 'failed'];
    case 'ToolCallDone':
      return [...towardsTool(call), payload.outcome === 'failed' ? 'failed' : 'succeeded'];
    case 'ToolCallCancelled':
      return ['cancelled'];
    case 'ToolCallResumed': {
      if (payload.action === 'cancel') return ['cancelled'];
      const { result } = payload;
      const hasFailed =
        isObject(result) && typeof result.error === 'string' && Object.keys(result).length === 1;
      return [...towardsTool(call), hasFailed ? 'failed' : 'succeeded'];
    }
    default:
      return [];
  }
};

const DELIVERED: ReadonlyMap<string, string> = new Map([
  ['RunSubmitted', 'claimed'],
  ['RunRescheduled', 'queued'],
  ['RunInterrupted', 'superseded'],
]);

/** A dispatch stays open while its run waits; the next dispatch of the run shows that it was acknowledged. */
const onDelivery = (found: Found, { event_kind, payload }: LogEvent, place: number): void => {
  const id = word(payload.dispatch_id);
  const key = `dispatch:${id}`;
  if (event_kind === 'RunQueued' && !found.parts.has(key)) {
    for (const part of found.open.values()) if (part.machine === 'dispatch') move(part, place, 'acked');
    const begins = { state: 'queued', event: place };
    begin(found, key, { id, machine: 'dispatch', name: '', begins, moves: [] });
  }
  const part = found.open.get(key);
  const next = DELIVERED.get(event_kind);
  if (next !== undefined) move(part, place, next);
  // For a dispatch that was never claimed, the event contains the outcome.
  if (event_kind === 'RunCancelled')
    move(part, place, payload.status === 'superseded' ? 'superseded' : 'cancelled');
};

const endAll = ({ open }: Found, kind: string, place: number): void => {
  for (const part of open.values()) {
    const state = stateOf(part);
    if (part.machine === 'tool-call') {
      if (!CALL_ENDS.includes(state)) move(part, place, 'cancelled');
    } else if (state === 'claimed') move(part, place, ENDS[kind] ?? 'acked');
    else if (state === 'queued') move(part, place, 'cancelled');
  }
  open.clear();
};

/** The parts in the order of their start. The cost is linear in the length of the log. */
export const partsOf = (events: readonly LogEvent[]): Part[] => {
  const found: Found = { parts: new Map(), open: new Map() };
  events.forEach((event, place) => {
    const { event_kind: kind, payload } = event;
    if (kind === 'ToolCallReady') {
      const id = word(payload.id);
      const begins = { state: 'new', event: place };
      begin(found, `call:${id}`, { id, machine: 'tool-call', name: word(payload.name), begins, moves: [] });
    } else if (kind.startsWith('ToolCall')) {
      const call = found.parts.get(`call:${word(payload.id) || word(payload.target_id)}`);
      if (call) move(call, place, ...wayOf(call, event, events[place + 1]));
    } else if (word(payload.dispatch_id) !== '') onDelivery(found, event, place);
    if (Object.hasOwn(ENDS, kind)) endAll(found, kind, place);
  });
  return [...found.parts.values()];
};

/** The state of a part after a number of events; undefined if it had not started. */
export const partAt = (part: Part, at: number): { state: string; moves: readonly Move[] } | undefined => {
  if (part.begins.event >= at) return undefined;
  const moves = part.moves.filter(({ event }) => event < at);
  return { state: moves.at(-1)?.state ?? part.begins.state, moves };
};

export const stepsOf = ({ begins }: Part, moves: readonly Move[], ways: Ways): Step[] => {
  const steps: Step[] = [];
  let at = begins.state;
  for (const { state } of moves) {
    for (const { id, event, to } of ways.between(at, state)) {
      const next = to ?? at;
      steps.push({ serial: steps.length + 1, event, from: at, to: next, transition: id, time: 0 });
      at = next;
    }
  }
  return steps;
};
