import { isObject } from '../../data/guard.ts';
import type { LogEvent } from '../../events/event.ts';
import type { Step } from '../../statechart/actors.ts';
import type { Ways } from './machine.ts';

/**
 * What a run is made of besides itself: its calls of tools and the deliveries that it was executed for. Each is a
 * record that a machine decides about and no actor holds; where it was, and when, is in the events of the run. Pure.
 */

export type PartMachine = 'tool-call' | 'dispatch';

/** The part came to this state with this event, by its place in the log. */
type Move = { state: string; event: number };

export type Part = {
  id: string;
  machine: PartMachine;
  /** Of the tool; blank for a delivery. */
  name: string;
  /** Where the machine begins, and at which event. */
  begins: Move;
  moves: Move[];
};

/** What the end of a run makes of the delivery that it was executed for; an interrupt has overtaken it before. */
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

/** A call that waited goes through the gate again before its tool is executed. */
const towardsTool = (call: Part): string[] =>
  stateOf(call) === 'suspended' ? ['resuming', 'running'] : ['running'];

/** The states that a call goes through with this event. */
const wayOf = (call: Part, event: LogEvent, next: LogEvent | undefined): readonly string[] => {
  const { event_kind: kind, payload } = event;
  if (CALL_ENDS.includes(stateOf(call))) return [];
  switch (kind) {
    case 'ToolCallSuspended': {
      // The gate asks before the tool is executed; a tool that asks is executed already.
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

/** A delivery stays with its run while that waits; one behind it says that it was consumed. */
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
  // Of a delivery that nobody had begun with: the end of the run says it, with what became of it.
  if (event_kind === 'RunCancelled')
    move(part, place, payload.status === 'superseded' ? 'superseded' : 'cancelled');
};

/** Whatever is open when a run ends ends with it. */
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

/** In the order in which they began. Costs what the log is long. */
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

/** What it had come to when so many events had happened; undefined: it had not begun. */
export const partAt = (part: Part, at: number): { state: string; moves: readonly Move[] } | undefined => {
  if (part.begins.event >= at) return undefined;
  const moves = part.moves.filter(({ event }) => event < at);
  return { state: moves.at(-1)?.state ?? part.begins.state, moves };
};

/** The same way through its machine, for its chart. */
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
