import type { Resume } from '../schema/activation.ts';
import { type Tool, toToolResult } from '../tools/tool.ts';
import { editedArguments } from '../tools/verdict.ts';
import { decideBudget, dropBudgetWaits, isBudgetWait, type Stopped } from './budget-wait.ts';
import { advanceCall, openTickets, suspendedBy } from './calls.ts';
import {
  addCallParts,
  execute,
  finishCall,
  gate,
  gatedCall,
  givenByGate,
  rejected,
  withinAnswer,
} from './execute.ts';
import { runPhase } from './phases.ts';
import { deny, interrupted, settleResumed, supersede, suspend, suspendRun } from './settle.ts';
import { traceDecided, traceLostTool } from './trace.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * Ends a wait (agent-loop.md 7.3, 7.4): applies the received decisions to the calls that are still suspended, in the
 * order of their ids. If new input is pending for the run, the remaining open calls are superseded and the input joins
 * the history. A call that a decision had started when the process died is repeated only if its tool is idempotent. A
 * tool that resumes itself receives every decision on its own tickets.
 */

export type DecideOutcome = { kind: 'resolved' } | ReturnType<typeof suspendedBy> | Blocked | Stopped;

type Blocked = { kind: 'blocked'; reason: string };

export const decide = async (turn: Turn, signal: AbortSignal): Promise<DecideOutcome> => {
  for (const entry of openTickets(turn.calls)) {
    const decision = turn.decisions.get(entry.call.id);
    if (!decision) continue;
    const end = isBudgetWait(entry)
      ? decideBudget(turn, entry, decision)
      : await applyDecision(turn, entry, decision, signal);
    if (end) return end;
    if (signal.aborted) break;
  }
  if (signal.aborted) return suspendedBy(turn.calls);
  if (turn.hasInput()) {
    dropBudgetWaits(turn);
    for (const entry of openTickets(turn.calls)) supersede(turn, entry);
  }
  await turn.checkpoint('resume_input');
  return openTickets(turn.calls).length > 0 ? suspendedBy(turn.calls) : { kind: 'resolved' };
};

/** Applies a decision to its call. Returns how the run ends when a gate forbids the call now. */
const applyDecision = async (
  turn: Turn,
  entry: StepCall,
  decision: Resume,
  signal: AbortSignal,
): Promise<Blocked | undefined> => {
  // Skipped for a call that had already resumed when the process died.
  if (entry.status === 'suspended') {
    turn.observe.agents.suspension(turn.agent.spec.id, decision.action);
    traceDecided(turn, entry, decision.action);
  }
  const call = { ...gatedCall(entry, decision), decision };
  await runPhase(turn, 'decided', signal, { call });
  if (decision.action === 'cancel') {
    deny(turn, entry, decision);
    return undefined;
  }
  const reason = await resume(turn, entry, decision, signal);
  return reason === undefined ? undefined : { kind: 'blocked', reason };
};

/** Executes the call, or takes the decision as its result. Returns the reason when a gate forbids the call now. */
const resume = async (
  turn: Turn,
  entry: StepCall,
  decision: Resume,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const own = entry.ticket?.resume_mode === 'use_decision_as_tool_result';
  const resumesItself = own && toolOf(turn, entry)?.resumesItself === true;
  const isResumable = resumesItself || entry.kept !== undefined;
  if (entry.status === 'running' && !isResumable && toolOf(turn, entry)?.idempotent !== true) {
    settleResumed(turn, entry, interrupted(entry));
    traceLostTool(turn, entry);
    return undefined;
  }
  noteEdits(entry, decision);
  if (entry.status === 'suspended') advanceCall(turn, entry, 'RESUME');
  if (resumesItself) {
    await run(turn, entry, signal);
    return undefined;
  }
  if (own) {
    settleResumed(turn, entry, toToolResult(entry.call.name, { data: decision.result }));
    return undefined;
  }
  const verdict = await gate(turn, entry, signal);
  if (signal.aborted) return undefined;
  if (verdict.kind === 'block') {
    settleResumed(turn, entry, rejected(entry, verdict.reason));
    return verdict.reason;
  }
  if (verdict.kind === 'suspend') await suspend(turn, entry, verdict.ticket, signal);
  else if (verdict.kind === 'set_result') {
    const executed = withinAnswer(turn, entry, givenByGate(entry, verdict.output));
    settleResumed(turn, entry, executed.result, executed.content);
    addCallParts(turn, entry, executed);
  } else await run(turn, entry, signal);
  return undefined;
};

/** Stores the edited arguments with the call: later tickets show them, and the tool is executed with them. */
const noteEdits = (entry: StepCall, decision: Resume): void => {
  const edited = entry.ticket?.resume_mode === 'replay_tool_call' ? editedArguments(decision) : undefined;
  if (edited === undefined) return;
  entry.edited = { arguments: edited };
  // The gate has not seen these arguments.
  entry.passed = false;
};

const run = async (turn: Turn, entry: StepCall, signal: AbortSignal): Promise<void> => {
  if (entry.status === 'resuming') advanceCall(turn, entry, 'START');
  await turn.checkpoint();
  if (signal.aborted) return;
  const outcome = await execute(turn, entry, signal);
  if (signal.aborted) return;
  if ('suspend' in outcome) await suspendRun(turn, entry, outcome, signal);
  else {
    const executed = withinAnswer(turn, entry, outcome);
    settleResumed(turn, entry, executed.result, executed.content);
    await finishCall(turn, entry, executed, signal);
  }
};

const toolOf = (turn: Turn, { call }: StepCall): Tool | undefined => turn.agent.tools.get(call.name);
