import type { GateDecision } from '../tools/tool.ts';
import { advanceCall, isOpenTicket, suspendedBy } from './calls.ts';
import { addPartsOf, execute, finishCall, gate, givenByGate, rejected, withinAnswer } from './execute.ts';
import { interruptCalls, settle, suspend } from './settle.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * Gates and executes the calls of a step, in their order (agent-loop.md 6.3, 7.1). Calls that may run wait in a
 * group until one that may not, or the end; then they run, neighbours concurrently unless a tool must run alone,
 * and the call that may not is asked for again. Before a group runs, one commit marks its calls as started, so that
 * a crash can tell a call that may have had effects from one that never began. Results keep the order of the calls.
 */

export type ActOutcome =
  | { kind: 'executed' }
  | ReturnType<typeof suspendedBy>
  | { kind: 'blocked'; reason: string };

export const act = async (turn: Turn, signal: AbortSignal): Promise<ActOutcome> => {
  const group: StepCall[] = [];
  for (const entry of turn.calls.filter(({ status }) => status === 'new')) {
    let decision = await gate(turn, entry, signal);
    if (decision.kind !== 'proceed' && group.length > 0) {
      await runGroup(turn, group.splice(0), signal);
      if (!signal.aborted && entry.status === 'new') decision = await gate(turn, entry, signal);
    }
    if (signal.aborted || entry.status !== 'new') break;
    if (decision.kind === 'proceed') group.push(entry);
    else if (decision.kind === 'block') return block(turn, entry, decision);
    else if (decision.kind === 'suspend') suspend(turn, entry, decision.ticket);
    else {
      const executed = withinAnswer(turn, entry, givenByGate(entry, decision.output));
      settle(turn, entry, executed.result);
      addPartsOf(turn, entry, executed);
    }
  }
  await runGroup(turn, group, signal);
  return turn.calls.some(isOpenTicket) ? suspendedBy(turn.calls) : { kind: 'executed' };
};

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
    for (const entry of neighbours) advanceCall(turn, entry, 'START');
    await turn.checkpoint();
    if (signal.aborted) return;
    const running = neighbours.map((entry) => execute(turn, entry, signal));
    for (const [index, entry] of neighbours.entries()) {
      const outcome = await running[index];
      if (signal.aborted || !outcome) return;
      if ('suspend' in outcome) suspend(turn, entry, outcome.suspend);
      else {
        const executed = withinAnswer(turn, entry, outcome);
        settle(turn, entry, executed.result);
        await finishCall(turn, entry, executed, signal);
      }
    }
    if (neighbours.some(isOpenTicket)) {
      interruptCalls(turn);
      return;
    }
  }
};

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
