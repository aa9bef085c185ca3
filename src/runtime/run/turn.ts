import type { ResolvedAgent } from '../../loop/agent.ts';
import { restoredCalls } from '../../loop/calls.ts';
import { withFrontendTools } from '../../loop/frontend-tools.ts';
import { restartRepairs } from '../../loop/output.ts';
import { restartCount } from '../../loop/rounds.ts';
import { createRunState, setTurnMark } from '../../loop/state.ts';
import type { Turn } from '../../loop/turn.ts';
import { textWithoutData } from '../../schema/media.ts';
import type { Message } from '../../schema/message.ts';
import { baseOf, partitionOf } from '../../schema/partition.ts';
import type { Run } from '../../schema/run.ts';
import type { RuntimeDeps } from '../deps.ts';
import { historyBytes } from '../ledger/history-bytes.ts';
import { issueTicket } from '../ledger/issued-tickets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { historyOf, keptFor } from '../ledger/ledger.ts';
import { selectPending } from '../ledger/pending.ts';
import { acceptFiles } from '../thread/accept-files.ts';
import { actingUser } from './acting-user.ts';

/** Builds the working state of the loop from the rows of the run and its thread. */

type TurnInput = {
  run: Run;
  agent: ResolvedAgent;
  ledger: Ledger;
  from: string;
  interrupted: boolean;
} & Pick<Turn, 'compactor' | 'tasks' | 'mail'>;

export const createTurn = (
  deps: RuntimeDeps,
  { run, agent, ledger, from, interrupted, compactor, tasks, mail }: TurnInput,
  {
    stream,
    checkpoint,
    logCompaction,
    traceFor,
    account,
    noteUsage,
  }: Pick<Turn, 'stream' | 'checkpoint' | 'logCompaction' | 'traceFor' | 'account' | 'noteUsage'>,
): Turn => {
  const { run_id, thread_id } = run;
  const state = createRunState(run.state, keptFor(ledger, run_id));
  // An agent that takes over the run has the same client tools.
  const equipped = (each: ResolvedAgent) =>
    withFrontendTools(each, run.activation?.options.frontend_tools, run.activation?.trace.adapter);
  return {
    scope: ledger.scope,
    actsFor: actingUser(run),
    ...filesFor(deps, ledger, run),
    mayDecide: (author, call) => deps.mayDecide?.(ledger.scope, author, call) ?? true,
    run_id,
    thread_id,
    agent: equipped(agent),
    clock: deps.clock,
    ids: deps.ids,
    stream,
    state,
    observe: deps.observe,
    trace: undefined,
    context: run.activation?.trace.context,
    traceFor,
    account,
    noteUsage,
    warn: (event, fields) => deps.log.warn(event, { run_id, thread_id, ...fields }),
    committed: () => historyOf(ledger),
    committedBytes: () => historyBytes(ledger),
    mostBytes: deps.settings.thread_limit_bytes,
    produced: [],
    started: false,
    maxPhaseRounds: deps.settings.max_phase_rounds,
    maxCalls: deps.settings.max_calls_per_step,
    resolveAgent: (id) => equipped(deps.resolve(id, agent.resolution_id)),
    step: undefined,
    calls: from === 'created' ? [] : restoredCalls(state),
    decisions: new Map(run.activation?.seeded_decisions),
    issueTicket: (wanted) => issueTicket(ledger, deps.ids, wanted),
    hasInput: () => hasInput(ledger, run_id),
    steps: run.steps,
    answered: false,
    continuations: 0,
    cutOff: undefined,
    note: undefined,
    compactor,
    tasks,
    mail,
    logCompaction,
    instructions: run.activation?.options.instructions,
    continuesTruncated: run.activation?.options.continue_truncated !== false,
    maxOwnCalls: run.activation?.options.max_tool_calls,
    overrides: run.activation?.options.overrides ?? {},
    inputTokens: run.input_tokens,
    outputTokens: run.output_tokens,
    costUsd: run.cost_usd,
    lost: { input: run.cut_off?.input_tokens ?? 0, output: run.cut_off?.output_tokens ?? 0 },
    lostAttempt: interrupted,
    outputSchema: run.activation?.options.output_schema,
    answer: undefined,
    structured: undefined,
    response: from === 'created' ? '' : lastAnswer(historyOf(ledger), run_id),
    checkpoint,
  };
};

/** The files of the user of the run. */
const filesFor = (
  deps: RuntimeDeps,
  { scope }: Pick<Ledger, 'scope'>,
  { user }: Pick<TurnInput['run'], 'user'>,
): Pick<Turn, 'files' | 'acceptFiles'> => {
  const owner = partitionOf({ scope: baseOf(scope), user });
  return {
    files: deps.toolFiles?.(owner),
    acceptFiles: (content) => acceptFiles(deps, owner, [{ content: [...content] }])[0]?.content ?? [],
  };
};

function hasInput({ pending }: Ledger, run_id: string): boolean {
  return (['resume_input', 'next_step'] as const).some((at) =>
    // Task events do not end a wait for a decision.
    selectPending(pending, at, run_id).some(({ message }) => message.visibility !== 'internal'),
  );
}

/** New user input continues the run: its counters restart (agent-loop.md 8). */
export const beginTurn = (turn: Turn): void => {
  setTurnMark(turn.state, { turn_id: turn.ids.uuid(), first_step: turn.steps });
  restartCount(turn);
  restartRepairs(turn);
};

/** Returns the text of the run's last assistant message, for an execution that resumes it. */
const lastAnswer = (history: readonly Message[], run_id: string): string => {
  const answer = history.findLast(
    ({ role, visibility, metadata }) =>
      role === 'assistant' && visibility !== 'internal' && metadata?.run_id === run_id,
  );
  return answer ? textWithoutData(answer.content) : '';
};
