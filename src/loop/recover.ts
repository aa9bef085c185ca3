import type { Message } from '../schema/message.ts';
import { interruptCalls } from './act.ts';
import type { StepCall, Turn } from './turn.ts';

/**
 * A crash between "calls are about to run" and "calls have results" leaves an assistant message whose calls are
 * open. The step is taken up again there: a call may have had effects, so only a tool that calls itself
 * idempotent runs again; the others get the interrupted result.
 */

/** The open calls at the end of a history: of its last message, if that is an assistant's of this run. */
export const unfinishedCalls = (history: readonly Message[], run_id: string): Message | undefined => {
  const last = history.at(-1);
  return last?.role === 'assistant' && last.tool_calls && last.metadata?.run_id === run_id ? last : undefined;
};

export const reopenStep = (turn: Turn, asked: Message): void => {
  const calls = (asked.tool_calls ?? []).map(
    (call): StepCall => ({ call, malformed: undefined, status: 'new', result: undefined }),
  );
  turn.step = {
    index: turn.steps,
    message_id: asked.id,
    startedAt: turn.clock.now(),
    text: '',
    calls,
    reported: true,
  };
  turn.stream.emit({ event_type: 'step_start', message_id: asked.id });
  interruptCalls(
    turn,
    calls.filter(({ call }) => turn.agent.tools.get(call.name)?.idempotent !== true),
  );
};
