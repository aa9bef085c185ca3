import type { ToolCall } from '../schema/message.ts';
import { BY_CLIENT } from '../tools/client-tool.ts';
import { type GateDecision, type Suspension, ToolError, toToolResult } from '../tools/tool.ts';
import { advanceCall, isOpenTicket, keepReturned, suspendedBy } from './calls.ts';
import {
  addCallParts,
  execute,
  finishCall,
  gate,
  givenByGate,
  PROCEED,
  rejected,
  withinAnswer,
} from './execute.ts';
import { interruptCalls, settle, suspend, suspendRun } from './settle.ts';
import type { Executed, StepCall, Turn } from './turn.ts';

/**
 * Gates and executes the calls of a step, in their order (agent-loop.md 6.3, 7.1). Permitted calls are collected in a
 * group until the next call that is not permitted, or the last call; then the group is executed, adjacent calls
 * concurrently unless a tool must run alone, and the gate of the other call is evaluated again. Before a group runs,
 * one commit marks its calls as started, so that recovery can distinguish a call that may have had effects from one
 * that never started. Results keep the order of the calls; a result that is available while other calls of the step
 * execute is stored with the run, so that a crash does not lose it.
 */

export type ActOutcome =
  | { kind: 'executed' }
  | ReturnType<typeof suspendedBy>
  | { kind: 'blocked'; reason: string };

export const act = async (turn: Turn, signal: AbortSignal): Promise<ActOutcome> => {
  const group: StepCall[] = [];
  const taken = turn.calls.slice(0, turn.maxCalls);
  const beyond = beyondLimit(turn);
  for (const entry of taken.filter(({ status }) => status === 'new' || status === 'returned')) {
    const decide = (): Promise<Verdict> => (beyond.has(entry) ? REFUSED : gate(turn, entry, signal));
    const decision = entry.returned ? PROCEED : await gateInOrder(turn, entry, { group, decide, signal });
    if (!decision) break;
    if (decision.kind === 'proceed') group.push(entry);
    else if (decision.kind === 'block') return block(turn, entry, decision);
    else if (decision.kind === 'suspend') await suspend(turn, entry, decision.ticket, signal);
    else settleByGate(turn, entry, decision);
  }
  await runGroup(turn, group, signal);
  if (!signal.aborted) refuseExcess(turn);
  return turn.calls.some(isOpenTicket) ? suspendedBy(turn.calls) : { kind: 'executed' };
};

/** A call beyond the limit of the run is neither gated nor executed. */
type Verdict = GateDecision | { kind: 'refuse'; problem: string };

const REFUSED = Promise.resolve<Verdict>({ kind: 'refuse', problem: 'tool call limit reached' });

/**
 * Gates a call after the calls of the group before it: if it may not proceed, the group is executed first, and the gate
 * is evaluated again. Undefined if the step has ended by then.
 */
const gateInOrder = async (
  turn: Turn,
  entry: StepCall,
  { group, decide, signal }: { group: StepCall[]; decide: () => Promise<Verdict>; signal: AbortSignal },
): Promise<Verdict | undefined> => {
  const isOver = (): boolean => signal.aborted || entry.status !== 'new';
  let decision = await decide();
  if (decision.kind !== 'proceed' && group.length > 0) {
    await runGroup(turn, group.splice(0), signal);
    if (!isOver()) decision = await decide();
  }
  return isOver() ? undefined : decision;
};

const settleByGate = (
  turn: Turn,
  entry: StepCall,
  decision: Extract<Verdict, { kind: 'set_result' | 'refuse' }>,
): void => {
  if (decision.kind === 'refuse') {
    refuse(turn, entry, decision.problem);
    return;
  }
  const executed = withinAnswer(turn, entry, givenByGate(entry, decision.output));
  settle(turn, entry, executed.result, executed.content);
  addCallParts(turn, entry, executed);
};

/** A model can request any number of calls; the operator limits how many of one answer are executed. */
function refuseExcess(turn: Turn): void {
  const excess = turn.calls.slice(turn.maxCalls).filter(({ status }) => status === 'new');
  const problem = `not executed: at most ${turn.maxCalls} calls of one answer are executed; ask for it again in the next`;
  for (const entry of excess) refuse(turn, entry, problem);
}

const refuse = (turn: Turn, entry: StepCall, problem: string): void =>
  settle(turn, entry, toToolResult(entry.call.name, new ToolError('execution_failed', problem)));

/** Returns the calls of the step beyond the limit of the run (openai.md 4). Calls that a client executes do not count. */
const beyondLimit = (turn: Turn): ReadonlySet<StepCall> => {
  if (turn.maxOwnCalls === undefined) return new Set();
  const isOwn = ({ name }: ToolCall): boolean => turn.agent.tools.get(name)?.needsRun !== BY_CLIENT;
  const own = turn.calls.filter(({ call }) => isOwn(call));
  const current = new Set(own.map(({ call }) => call.id));
  const earlier = [...turn.committed(), ...turn.produced]
    .filter(({ role, metadata }) => role === 'assistant' && metadata?.run_id === turn.run_id)
    .flatMap(({ tool_calls = [] }) => tool_calls.filter((call) => isOwn(call) && !current.has(call.id)));
  return new Set(own.slice(Math.max(0, turn.maxOwnCalls - earlier.length)));
};

/** Later calls of the step are not executed. */
const block = (
  turn: Turn,
  entry: StepCall,
  { reason }: Extract<GateDecision, { kind: 'block' }>,
): ActOutcome => {
  settle(turn, entry, rejected(entry, reason));
  interruptCalls(turn);
  return { kind: 'blocked', reason };
};

/** A call that suspends itself prevents calls that have not started. */
const runGroup = async (turn: Turn, group: readonly StepCall[], signal: AbortSignal): Promise<void> => {
  for (const neighbours of batches(turn, group)) {
    if (signal.aborted) return;
    await startCalls(turn, neighbours);
    if (signal.aborted) return;
    const durable = createDurable(turn, signal);
    const running = neighbours.map((entry) => returnOf(turn, entry, { neighbours, durable, signal }));
    for (const [index, entry] of neighbours.entries()) {
      const outcome = await running[index];
      if (signal.aborted || !outcome) return;
      await settleOutcome(turn, entry, outcome, signal);
    }
    await durable.settled();
    if (neighbours.some(isOpenTicket)) {
      interruptCalls(turn);
      return;
    }
  }
};

const startCalls = async (turn: Turn, calls: readonly StepCall[]): Promise<void> => {
  const starting = calls.filter(({ status }) => status === 'new');
  for (const entry of starting) advanceCall(turn, entry, 'START');
  if (starting.length > 0) await turn.checkpoint();
};

const settleOutcome = async (
  turn: Turn,
  entry: StepCall,
  outcome: Executed | Suspension,
  signal: AbortSignal,
): Promise<void> => {
  if ('suspend' in outcome) return suspendRun(turn, entry, outcome, signal);
  const executed = withinAnswer(turn, entry, outcome);
  settle(turn, entry, executed.result, executed.content);
  await finishCall(turn, entry, executed, signal);
};

type Beside = { neighbours: readonly StepCall[]; durable: Durable; signal: AbortSignal };

/**
 * Returns the outcome of the call. While other calls of the step execute, its result is made durable at once: a crash
 * then costs only the unfinished calls. The result of the last one becomes durable with the step.
 */
async function returnOf(
  turn: Turn,
  entry: StepCall,
  { neighbours, durable, signal }: Beside,
): Promise<Executed | Suspension> {
  if (entry.returned) return entry.returned;
  const outcome = await execute(turn, entry, signal);
  const others = neighbours.some((other) => other !== entry && other.status === 'running');
  if (signal.aborted || 'suspend' in outcome || !others) return outcome;
  keepReturned(turn, entry, outcome);
  durable.soon(() => neighbours.some(({ status }) => status === 'running'));
  return outcome;
}

type Durable = {
  /** Makes one commit for all results of an event-loop tick, if it is still needed then. */
  soon(isNeeded: () => boolean): void;
  /** @throws the error of a failed commit */
  settled(): Promise<unknown>;
};

function createDurable(turn: Turn, signal: AbortSignal): Durable {
  let commits: Promise<unknown> = Promise.resolve();
  let isPlanned = false;
  return {
    soon(isNeeded) {
      if (isPlanned) return;
      isPlanned = true;
      const commit = new Promise(setImmediate).then(() => {
        isPlanned = false;
        return signal.aborted || !isNeeded() ? undefined : turn.checkpoint();
      });
      commits = Promise.all([commits, commit]);
      // The error is thrown where the group awaits `settled`; a cancelled run does not need it.
      commits.catch(() => {});
    },
    settled: () => commits,
  };
}

const batches = (turn: Turn, group: readonly StepCall[]): StepCall[][] => {
  const result: StepCall[][] = [];
  let open: StepCall[] | undefined;
  for (const entry of group) {
    const alone = turn.agent.tools.get(entry.call.name)?.exclusive === true;
    if (!alone && open) open.push(entry);
    else result.push([entry]);
    open = alone ? undefined : result.at(-1);
  }
  return result;
};
