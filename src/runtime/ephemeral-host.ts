import type { RunEnding } from '../../machines/run.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { cancelCalls } from '../loop/calls.ts';
import { runPhase } from '../loop/phases.ts';
import { recoverEntry } from '../loop/recover.ts';
import { NOTHING_KEPT } from '../loop/state.ts';
import { abandonStep, completeStep } from '../loop/step.ts';
import type { StepCall, Turn } from '../loop/turn.ts';
import type { Message, ToolCall } from '../schema/message.ts';
import type { Resume, ResumeMode, RunAdapter } from '../schema/run.ts';
import { createChannel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { lastWords, wordsOfWait } from './last-words.ts';
import { newRun } from './records.ts';
import type { Host } from './run-services.ts';
import type { DecisionInput } from './submission.ts';
import { createTurn } from './turn.ts';

/** The services of the run machine on a turn that lives in memory alone; the rules of such a run: `ephemeral.ts`. */

/** A call of the last assistant message that has no result; without a decision it keeps waiting. */
export type WaitingCall = {
  call: ToolCall;
  ticket_id: string;
  resume_mode: ResumeMode;
  decision?: Omit<DecisionInput, 'tool_call_id'>;
};

export type MemoryInput = {
  scope: string;
  thread_id: string;
  agent: ResolvedAgent;
  adapter: RunAdapter;
  /** The oldest first, with the calls of assistant messages and their results. */
  messages: readonly Message[];
  waiting: readonly WaitingCall[];
};

/** What other runs have in rows: here it lasts as long as the run. */
export const createMemory = (deps: RuntimeDeps, input: MemoryInput) => {
  const { scope, thread_id, agent, waiting } = input;
  const at = deps.clock.now();
  const channel = createChannel({ held: false });
  const history: Message[] = [...input.messages];
  const run = newRun({
    run_id: deps.ids.uuid(),
    thread_id,
    agent_id: agent.spec.id,
    resolution_id: agent.resolution_id,
    origin: 'user',
    adapter: input.adapter,
    mode: 'foreground',
    at,
  });
  const commit = (): void => {
    history.push(...turn.produced);
    turn.produced = [];
  };
  const ledger = { scope, history: () => history, pending: () => [], kept: () => NOTHING_KEPT };
  const turn: Turn = createTurn(
    deps,
    { run, agent, ledger, from: 'created', compactor: undefined, tasks: undefined, mail: undefined },
    {
      stream: channel,
      async checkpoint() {
        commit();
        return { taken: 0 };
      },
      tell: () => {},
    },
  );
  turn.calls = waiting.map((each) => restored(each, at));
  for (const { call, decision } of waiting) {
    if (decision) turn.decisions.set(call.id, decided(deps, decision, at));
  }
  return { run, turn, channel, commit };
};

const restored = ({ call, ticket_id, resume_mode }: WaitingCall, updated_at: number): StepCall => ({
  call,
  malformed: undefined,
  status: 'suspended',
  updated_at,
  ticket: { id: ticket_id, reason: `tool:${call.name}`, resume_mode },
  kept: undefined,
});

const decided = (
  { ids }: RuntimeDeps,
  { action, payload, reason, decided_by }: NonNullable<WaitingCall['decision']>,
  updated_at: number,
): Resume => ({
  decision_id: ids.uuid(),
  action,
  result: payload,
  ...(reason !== undefined && { reason }),
  ...(decided_by !== undefined && { decided_by }),
  updated_at,
});

type Memory = ReturnType<typeof createMemory>;

type Owner = {
  parked(): void;
  ended(): void;
  failed(reason: string): string;
  broke(error: unknown): void;
};

/** What the services of the machine work on; each commit is in memory. */
export const createHost = ({ run, turn, channel, commit }: Memory, owner: Owner): Host => ({
  turn,
  async beginDeciding(signal) {
    await completeStep(turn, signal);
  },
  answered() {},
  async checkpoint(signal) {
    await completeStep(turn, signal);
    commit();
    return { over: turn.answered };
  },
  failed() {},
  broke: owner.broke,
  async reschedule() {
    abandonStep(turn, { reason: 'resumed from checkpoint' });
    turn.produced = [];
  },
  reclaim: async () => ({ entry: recoverEntry(turn) }),
  async park(waits, signal) {
    await completeStep(turn, signal);
    if (signal.aborted) return;
    channel.emit(wordsOfWait(turn, run, waits));
  },
  parked: owner.parked,
  async conclude(ending, signal) {
    if (ending.type === 'cancelled') cancelCalls(turn);
    if (ending.type !== 'error') await completeStep(turn, signal);
    await runPhase(turn, 'run_end', signal);
  },
  async finish(ending) {
    if (ending.type === 'cancelled') cancelCalls(turn);
    owner.ended();
    channel.emit(lastWords(turn, run, told(ending, owner)));
  },
});

const told = (ending: RunEnding, { failed }: Owner): RunEnding =>
  ending.type === 'error' ? { ...ending, value: failed(ending.value) } : ending;
