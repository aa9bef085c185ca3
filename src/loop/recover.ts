import type { RunEntry } from '../../machines/run-types.ts';
import { monotonic } from '../schema/clock.ts';
import type { Message } from '../schema/message.ts';
import { newCall, restoredCalls } from './calls.ts';
import { interrupted, settle } from './settle.ts';
import { traceLostTool } from './trace.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * Restores the calls of the last step for an execution that continues after an earlier one. A crash between the commit
 * that marks calls as started and their results leaves an assistant message with calls without results. The step is then
 * resumed there: a call that never started is gated as usual; one that had started may have had effects, so it is
 * repeated only if its tool is idempotent or has stored the data to resume remote work; all others get the interrupted
 * result.
 */
export const restoreCalls = (turn: Turn, entry: RunEntry): void => {
  turn.calls = restoredCalls(turn.state);
  const unfinished =
    entry === 'unfinished_calls' ? findUnfinishedCalls(turn.committed(), turn.run_id) : undefined;
  if (unfinished) reopenStep(turn, unfinished);
};

type UnfinishedCalls = { message: Message; open: string[] };

/** Returns the run's last message with calls, and those of its calls that have no result. */
const findUnfinishedCalls = (history: readonly Message[], run_id: string): UnfinishedCalls | undefined => {
  const index = history.findLastIndex(
    ({ role, metadata }) =>
      role === 'assistant' && metadata?.run_id === run_id && metadata.step_index !== undefined,
  );
  const message = history[index];
  if (!message?.tool_calls) return undefined;
  const answered = new Set(history.slice(index + 1).map(({ tool_call_id }) => tool_call_id));
  return { message, open: message.tool_calls.map(({ id }) => id).filter((id) => !answered.has(id)) };
};

const reopenStep = (turn: Turn, { message, open }: UnfinishedCalls): void => {
  const before = new Map(turn.calls.map((entry) => [entry.call.id, entry]));
  turn.step = {
    index: turn.steps,
    message_id: message.id,
    startedAt: monotonic(turn.clock),
    text: '',
    reasoning: '',
    reasoningItems: [],
    parts: [],
    sources: [],
    retries: [],
    firstAt: undefined,
    reported: true,
    completed: false,
    unsent: '',
    result: undefined,
  };
  turn.stream.emit({ event_type: 'step_start', message_id: message.id });
  const died: StepCall[] = [];
  turn.calls = (message.tool_calls ?? []).map((call): StepCall => {
    const known = before.get(call.id);
    if (known && (!open.includes(call.id) || known.returned)) return known;
    const kept = known?.kept;
    const again: StepCall = { ...newCall(turn, call), kept };
    const began = known?.status === 'running';
    if (began && kept === undefined && turn.agent.tools.get(call.name)?.idempotent !== true) died.push(again);
    return again;
  });
  for (const entry of died) {
    settle(turn, entry, interrupted(entry));
    traceLostTool(turn, entry);
  }
};
