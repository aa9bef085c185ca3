import { monotonic } from '../schema/clock.ts';
import type { Message } from '../schema/message.ts';
import { newCall, openTickets, restoredCalls } from './calls.ts';
import { interrupted, settle } from './settle.ts';
import { traceLostTool } from './trace.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * Where an execution goes on that another one left behind. A crash between "calls are about to run" and "calls
 * have results" leaves an assistant message with calls that have no message of their own. The step is taken up
 * again there: a call that never began is gated as usual; one that had begun may have had effects, so only a tool
 * that calls itself idempotent, or has kept what it needs to go on elsewhere, runs again; the others get the
 * interrupted result.
 */

export const recoverEntry = (turn: Turn): 'inference' | 'unfinished_calls' | 'decisions' => {
  turn.calls = restoredCalls(turn.state);
  const asked = lastAsked(turn.committed(), turn.run_id);
  if (asked && asked.open.length > 0) {
    reopenStep(turn, asked);
    return 'unfinished_calls';
  }
  return openTickets(turn.calls).length > 0 ? 'decisions' : 'inference';
};

type Asked = { message: Message; open: string[] };

/** The last message that the run itself brought with calls, and those of them that have no result. */
const lastAsked = (history: readonly Message[], run_id: string): Asked | undefined => {
  const index = history.findLastIndex(
    ({ role, metadata }) =>
      role === 'assistant' && metadata?.run_id === run_id && metadata.step_index !== undefined,
  );
  const message = history[index];
  if (!message?.tool_calls) return undefined;
  const answered = new Set(history.slice(index + 1).map(({ tool_call_id }) => tool_call_id));
  return { message, open: message.tool_calls.map(({ id }) => id).filter((id) => !answered.has(id)) };
};

const reopenStep = (turn: Turn, { message, open }: Asked): void => {
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
