import { rememberingAdvance } from '../../machines/advance.ts';
import { type ToolCallEvent, toolCallMachine } from '../../machines/tool-call.ts';
import type { StepCall, Turn } from './turn.ts';

const nextState = rememberingAdvance(toolCallMachine);

/** Moves the calls of a step through their statechart and mirrors them in the run's state (agent-loop.md 13). */

export const advanceCall = (turn: Turn, entry: StepCall, event: ToolCallEvent['type']): void => {
  const next = nextState({ value: entry.status, context: {} }, { type: event });
  // Every state of this machine is atomic, so its value is a string.
  entry.status = next.value as StepCall['status'];
  publishCalls(turn);
};

/** Calls of the previous step leave the state with its new value. */
const publishCalls = (turn: Turn): void =>
  turn.state.set('__runtime.tool_call_states', {
    calls: Object.fromEntries(
      (turn.step?.calls ?? []).map(({ call, status }) => [
        call.id,
        {
          call_id: call.id,
          tool_name: call.name,
          arguments: call.arguments,
          status,
          updated_at: turn.clock.now(),
          resume_mode: 'replay_tool_call',
        },
      ]),
    ),
  });
