import { rememberingAdvance } from '../../machines/advance.ts';
import { type ToolCallEvent, toolCallMachine } from '../../machines/tool-call.ts';
import type { ToolCall } from '../schema/message.ts';
import { ResumeMode, type StateSnapshot } from '../schema/run.ts';
import { waitKindOf } from '../schema/run-state.ts';
import { delegatedRun } from '../tools/tickets.ts';
import type { Json } from '../tools/tool.ts';
import type { RunState } from './state.ts';
import type { Executed, StepCall, ToolCallStatus, Turn } from './turn.ts';

/**
 * Moves the calls of a step through their statechart and mirrors them in the state of the run (agent-loop.md 13). A
 * later execution of the run restores them from this mirror.
 */

const KEY = '__runtime.tool_call_states';

const nextState = rememberingAdvance(toolCallMachine);

export const newCall = (turn: Turn, call: ToolCall, malformed?: string): StepCall => ({
  call,
  malformed,
  status: 'new',
  updated_at: turn.clock.now(),
  ticket: undefined,
  edited: undefined,
  passed: false,
  kept: undefined,
  returned: undefined,
  ran: undefined,
});

/** @throws IllegalTransition */
export const advanceCall = (turn: Turn, entry: StepCall, event: ToolCallEvent['type']): void => {
  const next = nextState({ value: entry.status, context: {} }, { type: event });
  // Every state of this machine is atomic, so its value is a string.
  entry.status = next.value as StepCall['status'];
  entry.updated_at = turn.clock.now();
  publishCalls(turn);
};

/**
 * Stores the data with which the tool can resume its remote work; undefined once that work has ended or was stopped.
 */
export const keepCall = (turn: Turn, entry: StepCall, kept: StepCall['kept']): void => {
  if (entry.kept === kept) return;
  entry.kept = kept;
  publishCalls(turn);
};

/** Stores the result with the state of the run until it joins the history. */
export function keepReturned(turn: Turn, entry: StepCall, returned: Executed): void {
  entry.returned = returned;
  advanceCall(turn, entry, 'RETURN');
}

/** Writing the value again drops the calls of the previous step. */
const publishCalls = (turn: Turn): void =>
  turn.state.set(KEY, {
    calls: Object.fromEntries(turn.calls.map((entry) => [entry.call.id, mirrored(turn, entry)])),
  });

const mirrored = (turn: Turn, entry: StepCall) => {
  const { call, status, ticket, updated_at } = entry;
  const decision = ticket && turn.decisions.get(entry.call.id);
  return {
    call_id: call.id,
    tool_name: call.name,
    arguments: call.arguments,
    status,
    updated_at,
    resume_mode: ticket?.resume_mode ?? 'replay_tool_call',
    ...(ticket && { suspension_id: ticket.id, suspension_reason: ticket.reason }),
    ...(ticket?.message !== undefined && { suspension_message: ticket.message }),
    ...(ticket?.digest !== undefined && { digest: ticket.digest }),
    ...(ticket?.shows !== undefined && { suspension_shows: ticket.shows }),
    ...(ticket?.tickets && { tickets: ticket.tickets.map((below) => ({ ...below })) }),
    ...(ticket?.deciders && { deciders: ticket.deciders }),
    ...(ticket?.expires && { expires: ticket.expires }),
    ...(ticket?.resume_with !== undefined && { resume_with: ticket.resume_with }),
    ...(entry.edited && { edited: entry.edited }),
    ...(entry.passed && { passed: entry.passed }),
    ...(decision && { resume_input: decision }),
    ...(entry.kept !== undefined && { kept: entry.kept }),
    ...(entry.returned && { returned: storedReturn(entry.returned) }),
  };
};

/** Serializes a result. Only the identity of a state key is stored; its schema stays in the program. */
function storedReturn({ result, content, asks: { state, actions }, parts }: Executed): Json {
  const updates = state?.map(({ key: { key, scope, hidden }, value }) => ({
    key: { key, scope, hidden },
    value,
  }));
  const asks = { ...(updates && { state: updates }), ...(actions && { actions }) };
  // Tools return JSON, so the results, blocks and updates derived from it are JSON too.
  return { result, parts, asks, ...(content && { content }) } as unknown as Json;
}

/** Called for a new step, which has no calls yet. */
export const clearCalls = (turn: Turn): void => {
  if (turn.calls.length === 0) return;
  turn.calls = [];
  turn.decisions.clear();
  publishCalls(turn);
};

type Mirrored = ReturnType<typeof mirrored>;

// Only publishCalls writes under this key.
const mirroredIn = (value: unknown): Record<string, Mirrored> =>
  (value as { calls: Record<string, Mirrored> } | undefined)?.calls ?? {};

/** Returns the calls as an earlier execution of the run left them. */
export const restoredCalls = (state: Pick<RunState, 'get'>): StepCall[] => {
  return Object.values(mirroredIn(state.get(KEY))).map((entry) => ({
    call: { id: entry.call_id, name: entry.tool_name, arguments: entry.arguments },
    malformed: undefined,
    status: entry.status,
    updated_at: entry.updated_at,
    ticket:
      entry.suspension_id === undefined
        ? undefined
        : {
            id: entry.suspension_id,
            reason: entry.suspension_reason ?? '',
            ...(entry.suspension_message !== undefined && { message: entry.suspension_message }),
            resume_mode: ResumeMode.parse(entry.resume_mode),
            ...(entry.digest !== undefined && { digest: entry.digest }),
            ...(entry.suspension_shows !== undefined && { shows: entry.suspension_shows }),
            ...(entry.tickets && { tickets: entry.tickets }),
            ...(entry.deciders && { deciders: entry.deciders }),
            ...(entry.expires && { expires: entry.expires }),
            ...(entry.resume_with !== undefined && { resume_with: entry.resume_with }),
          },
    edited: entry.edited,
    passed: entry.passed === true,
    kept: entry.kept,
    // `storedReturn` wrote this value; the state needs only the stored fields of a key.
    returned: entry.returned as unknown as Executed | undefined,
    ran: undefined,
  }));
};

/** `listed`: the digest of the tickets that the call shows. */
type DelegatedRun = { run_id: string; listed: string | undefined; open: boolean; cancelled: boolean };

/** Returns the runs named by tickets of the last step, with the state of their calls. */
export const delegatedRuns = (state: StateSnapshot | null): DelegatedRun[] =>
  restoredCalls({ get: (key) => state?.extensions[key] }).flatMap((entry) => {
    const run_id = entry.ticket && delegatedRun(entry.ticket.id);
    return run_id === undefined
      ? []
      : [
          {
            run_id,
            listed: entry.ticket?.tickets && entry.ticket.digest,
            open: isOpenTicket(entry),
            cancelled: entry.status === 'cancelled',
          },
        ];
  });

type CallElsewhere = { call_id: string; tool_name: string; resume_with: Json };

const NONE: readonly CallElsewhere[] = [];

/**
 * Returns the calls of a run whose remote work no execution will continue, by comparing two records of the run: in the
 * first, the call waits for a decision or executes; in the second, the call or its run has ended.
 */
export const callsLeft = (
  before: StateSnapshot | null | undefined,
  after: StateSnapshot | null | undefined,
  over: boolean,
): readonly CallElsewhere[] => {
  const stored = before?.extensions[KEY];
  if (stored === undefined) return NONE;
  const later = mirroredIn(after?.extensions[KEY]);
  return Object.values(mirroredIn(stored)).flatMap((entry) => {
    const { call_id, tool_name, status, resume_with, kept } = entry;
    const now = later[call_id];
    if (status === 'suspended' && resume_with !== undefined)
      return over || now?.status === 'cancelled' ? [{ call_id, tool_name, resume_with }] : [];
    // If the tool had stopped its remote work, it would have cleared `kept`.
    const isLeft = kept !== undefined && isUnsettled(entry) && now?.kept !== undefined;
    return isLeft && (over || !isUnsettled(now)) ? [{ call_id, tool_name, resume_with: kept }] : [];
  });
};

const OPEN: readonly ToolCallStatus[] = ['suspended', 'resuming', 'running', 'returned'];

/** Like `cancelCalls`, for a run without an execution. */
export const cancelStoredCalls = (state: Pick<RunState, 'get' | 'set'>, updated_at: number): void => {
  const calls = Object.entries(mirroredIn(state.get(KEY)));
  if (calls.length === 0) return;
  const cancelled = calls.map(([id, entry]) => {
    if (!isUnsettled(entry)) return [id, entry];
    const { value: status } = nextState({ value: entry.status, context: {} }, { type: 'CANCEL' });
    return [id, { ...entry, status, updated_at }];
  });
  state.set(KEY, { calls: Object.fromEntries(cancelled) });
};

const isUnsettled = ({ status }: Pick<StepCall, 'status'>): boolean =>
  status === 'new' || OPEN.includes(status);

export const unsettledCalls = ({ calls }: Turn): StepCall[] => calls.filter(isUnsettled);

/** Whether the call was suspended and is not settled by a decision yet. */
export const isOpenTicket = (entry: StepCall): boolean =>
  entry.ticket !== undefined && OPEN.includes(entry.status);

/** Returns the open tickets in the order in which decisions are applied and tickets are listed. */
export const openTickets = (calls: readonly StepCall[]): StepCall[] =>
  calls.filter(isOpenTicket).sort((a, b) => (a.call.id < b.call.id ? -1 : 1));

/** Returns the kind of wait that the open tickets require. */
export const suspendedBy = (calls: readonly StepCall[]): Suspended => ({
  kind: 'suspended',
  waits: waitKindOf(calls.flatMap((entry) => (isOpenTicket(entry) && entry.ticket ? [entry.ticket] : []))),
});

type Suspended = { kind: 'suspended'; waits: ReturnType<typeof waitKindOf> };

/** Cancels every unfinished call with its run. */
export const cancelCalls = (turn: Turn): void => {
  for (const entry of turn.calls) {
    if (isUnsettled(entry)) advanceCall(turn, entry, 'CANCEL');
  }
};
