import type { ResolvedAgent } from '../loop/agent.ts';
import { restoredCalls } from '../loop/calls.ts';
import { createRunState, setTurnMark, turnMark } from '../loop/state.ts';
import type { RunStream, Turn } from '../loop/turn.ts';
import { type Message, textOf } from '../schema/message.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import type { Ledger } from './ledger.ts';
import { selectPending } from './pending.ts';

/** What the loop works on, from the rows of the run and its thread. */

export const createTurn = (
  deps: RuntimeDeps,
  { run, agent, ledger, from }: { run: Run; agent: ResolvedAgent; ledger: Ledger; from: string },
  stream: RunStream,
  checkpoint: Turn['checkpoint'],
): Turn => {
  const { run_id, thread_id } = run;
  const state = createRunState(run.state);
  return {
    run_id,
    thread_id,
    agent,
    clock: deps.clock,
    ids: deps.ids,
    stream,
    state,
    observe: deps.observe,
    committed: ledger.history,
    produced: [],
    step: undefined,
    calls: from === 'created' ? [] : restoredCalls(state),
    decisions: new Map(run.activation?.seeded_decisions),
    hasInput: () =>
      selectPending(ledger.pending(), 'resume_input', run_id).length > 0 ||
      selectPending(ledger.pending(), 'next_step', run_id).length > 0,
    steps: run.steps,
    rounds: run.steps - (turnMark(state)?.first_step ?? 0),
    answered: false,
    continuations: 0,
    inputTokens: run.input_tokens,
    outputTokens: run.output_tokens,
    response: from === 'created' ? '' : lastAnswer(ledger.history(), run_id),
    checkpoint,
  };
};

/** New user input continues the run: its counters begin again (agent-loop.md 8). */
export const beginTurn = (turn: Turn): void => {
  setTurnMark(turn.state, { turn_id: turn.ids.uuid(), first_step: turn.steps });
  turn.rounds = 0;
};

/** Text of the last assistant message of the run, for an execution that takes it up again. */
const lastAnswer = (history: readonly Message[], run_id: string): string => {
  const answer = history.findLast(
    (message) => message.role === 'assistant' && message.metadata?.run_id === run_id,
  );
  return answer ? textOf(answer.content) : '';
};
