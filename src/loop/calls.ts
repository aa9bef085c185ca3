import { rememberingAdvance } from '../../machines/advance.ts';
import { type ToolCallEvent, toolCallMachine } from '../../machines/tool-call.ts';
import type { ToolCall } from '../schema/message.ts';
import { ResumeMode, type StateSnapshot } from '../schema/run.ts';
import { askedBy } from '../schema/run-state.ts';
import { delegatedRun } from '../tools/tickets.ts';
import type { Json } from '../tools/tool.ts';
import type { RunState } from './state.ts';
import type { Executed, StepCall, ToolCallStatus, Turn } from './turn.ts';

/**
 * Moves the calls of a step through their statechart and mirrors them in the run's state (agent-loop.md 13).
 * The mirror is what a later execution of the run takes them from.
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

/** What its tool needs to go on elsewhere; undefined once that is over, or somebody has told it to stop. */
export const keepCall = (turn: Turn, entry: StepCall, kept: StepCall['kept']): void => {
  if (entry.kept === kept) return;
  entry.kept = kept;
  publishCalls(turn);
};

/** Its result is kept with the state of the run until the history takes it. */
export function keepReturned(turn: Turn, entry: StepCall, returned: Executed): void {
  entry.returned = returned;
  advanceCall(turn, entry, 'RETURN');
}

/** Calls of the previous step leave the state with its new value. */
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
    ...(ticket?.tickets && { tickets: ticket.tickets.map((below) => ({ ...below })) }),
    ...(ticket?.expires && { expires: ticket.expires }),
    ...(ticket?.resume_with !== undefined && { resume_with: ticket.resume_with }),
    ...(entry.edited && { edited: entry.edited }),
    ...(entry.passed && { passed: entry.passed }),
    ...(decision && { resume_input: decision }),
    ...(entry.kept !== undefined && { kept: entry.kept }),
    ...(entry.returned && { returned: storedReturn(entry.returned) }),
  };
};

/** Stores what identifies the place of a value in the state; the schema of the key stays in the program. */
function storedReturn({ result, content, asks: { state, actions }, parts }: Executed): Json {
  const updates = state?.map(({ key: { key, scope, hidden }, value }) => ({
    key: { key, scope, hidden },
    value,
  }));
  const asks = { ...(updates && { state: updates }), ...(actions && { actions }) };
  // Tools return JSON, and so are the results, blocks and updates that are made of it.
  return { result, parts, asks, ...(content && { content }) } as unknown as Json;
}

/** A new step has no calls yet. */
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

/** The calls as an earlier execution of the run left them. */
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
            ...(entry.tickets && { tickets: entry.tickets }),
            ...(entry.expires && { expires: entry.expires }),
            ...(entry.resume_with !== undefined && { resume_with: entry.resume_with }),
          },
    edited: entry.edited,
    passed: entry.passed === true,
    kept: entry.kept,
    // Written by `storedReturn`; a state needs no more of a key than was stored.
    returned: entry.returned as unknown as Executed | undefined,
    ran: undefined,
  }));
};

/** `listed`: the digest of the tickets that the call shows. */
type DelegatedRun = { run_id: string; listed: string | undefined; open: boolean; cancelled: boolean };

/** Runs that tickets of the last step name, and what became of the calls that have them. */
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
 * Calls of a run whose tools have something under way elsewhere that nobody here will go on with, by two records of
 * it: the one waits for a decision, or is at work, and by the other it has come to an end, or its run has.
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
    // Its tool ends, or is told to stop, before it lets go of this.
    const isLeft = kept !== undefined && isUnsettled(entry) && now?.kept !== undefined;
    return isLeft && (over || !isUnsettled(now)) ? [{ call_id, tool_name, resume_with: kept }] : [];
  });
};

const OPEN: readonly ToolCallStatus[] = ['suspended', 'resuming', 'running', 'returned'];

/** The same as `cancelCalls`, of a run that nothing executes. */
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

/** Suspended, and not settled by a decision yet. */
export const isOpenTicket = (entry: StepCall): boolean =>
  entry.ticket !== undefined && OPEN.includes(entry.status);

/** In the order in which decisions are applied and tickets are listed. */
export const openTickets = (calls: readonly StepCall[]): StepCall[] =>
  calls.filter(isOpenTicket).sort((a, b) => (a.call.id < b.call.id ? -1 : 1));

/** What the open tickets make the run wait for. */
export const suspendedBy = (calls: readonly StepCall[]): Suspended => ({
  kind: 'suspended',
  waits: askedBy(calls.flatMap((entry) => (isOpenTicket(entry) && entry.ticket ? [entry.ticket] : []))),
});

type Suspended = { kind: 'suspended'; waits: ReturnType<typeof askedBy> };

/** Whatever has not come to an end is cancelled with its run. */
export const cancelCalls = (turn: Turn): void => {
  for (const entry of turn.calls) {
    if (isUnsettled(entry)) advanceCall(turn, entry, 'CANCEL');
  }
};
