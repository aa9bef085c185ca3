import { type GateDecision, type Suspension, ToolError, toToolResult } from '../tools/tool.ts';
import { advanceCall, isOpenTicket, keepReturned, suspendedBy } from './calls.ts';
import { addPartsOf, execute, finishCall, gate, givenByGate, rejected, withinAnswer } from './execute.ts';
import { interruptCalls, settle, suspend, suspendRun } from './settle.ts';
import type { Executed, StepCall, Turn } from './turn.ts';

/**
 * Gates and executes the calls of a step, in their order (agent-loop.md 6.3, 7.1). Calls that may run wait in a
 * group until one that may not, or the end; then they run, neighbours concurrently unless a tool must run alone,
 * and the call that may not is asked for again. Before a group runs, one commit marks its calls as started, so that
 * recovery can distinguish a call that may have had effects from one that never began. Results keep the order of the calls;
 * one that is available while other calls of the step execute is kept with the run, so that a crash does not lose it.
 */

export type ActOutcome =
  | { kind: 'executed' }
  | ReturnType<typeof suspendedBy>
  | { kind: 'blocked'; reason: string };

export const act = async (turn: Turn, signal: AbortSignal): Promise<ActOutcome> => {
  const group: StepCall[] = [];
  const taken = turn.calls.slice(0, turn.maxCalls);
  for (const entry of taken.filter(({ status }) => status === 'new' || status === 'returned')) {
    if (entry.returned) {
      group.push(entry);
      continue;
    }
    let decision = await gate(turn, entry, signal);
    if (decision.kind !== 'proceed' && group.length > 0) {
      await runGroup(turn, group.splice(0), signal);
      if (!signal.aborted && entry.status === 'new') decision = await gate(turn, entry, signal);
    }
    if (signal.aborted || entry.status !== 'new') break;
    if (decision.kind === 'proceed') group.push(entry);
    else if (decision.kind === 'block') return block(turn, entry, decision);
    else if (decision.kind === 'suspend') await suspend(turn, entry, decision.ticket, signal);
    else {
      const executed = withinAnswer(turn, entry, givenByGate(entry, decision.output));
      settle(turn, entry, executed.result, executed.content);
      addPartsOf(turn, entry, executed);
    }
  }
  await runGroup(turn, group, signal);
  if (!signal.aborted) refuseExcess(turn);
  return turn.calls.some(isOpenTicket) ? suspendedBy(turn.calls) : { kind: 'executed' };
};

/** A model may ask for as many calls as it likes; the operator bounds how many one answer starts. */
function refuseExcess(turn: Turn): void {
  const excess = turn.calls.slice(turn.maxCalls).filter(({ status }) => status === 'new');
  for (const entry of excess) {
    const problem = `not executed: at most ${turn.maxCalls} calls of one answer are executed; ask for it again in the next`;
    settle(turn, entry, toToolResult(entry.call.name, new ToolError('execution_failed', problem)));
  }
}

/** The calls behind it are not executed any more. */
const block = (
  turn: Turn,
  entry: StepCall,
  { reason }: Extract<GateDecision, { kind: 'block' }>,
): ActOutcome => {
  settle(turn, entry, rejected(entry, reason));
  interruptCalls(turn);
  return { kind: 'blocked', reason };
};

/** A call that suspends itself stops the ones that have not started. */
const runGroup = async (turn: Turn, group: readonly StepCall[], signal: AbortSignal): Promise<void> => {
  for (const neighbours of batches(turn, group)) {
    if (signal.aborted) return;
    const starting = neighbours.filter(({ status }) => status === 'new');
    for (const entry of starting) advanceCall(turn, entry, 'START');
    if (starting.length > 0) await turn.checkpoint();
    if (signal.aborted) return;
    const durable = createDurable(turn, signal);
    const running = neighbours.map((entry) => returnOf(turn, entry, { neighbours, durable, signal }));
    for (const [index, entry] of neighbours.entries()) {
      const outcome = await running[index];
      if (signal.aborted || !outcome) return;
      if ('suspend' in outcome) await suspendRun(turn, entry, outcome, signal);
      else {
        const executed = withinAnswer(turn, entry, outcome);
        settle(turn, entry, executed.result, executed.content);
        await finishCall(turn, entry, executed, signal);
      }
    }
    await durable.settled();
    if (neighbours.some(isOpenTicket)) {
      interruptCalls(turn);
      return;
    }
  }
};

type Beside = { neighbours: readonly StepCall[]; durable: Durable; signal: AbortSignal };

/**
 * The outcome of the call. While other calls of the step execute, its result is made durable at once: a crash then costs
 * only the calls that had not finished. The last one to finish becomes durable with the step.
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
  /** One commit for everything that comes in a turn of the event loop, if it is still needed then. */
  soon(isNeeded: () => boolean): void;
  /** @throws what a commit has failed with */
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
      // Reported where the group waits for it; a run that was cancelled meanwhile has no use for it.
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
