import type { Attach, DecisionInput, Runtime, Submission } from '../../runtime/index.ts';
import { actorOf } from '../../schema/actor.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { Outcome } from '../../schema/outcome.ts';
import { mayStill, type Principal } from '../../schema/principal.ts';
import type { Run } from '../../schema/run.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import type { Store } from '../../store/index.ts';
import { createProgress } from './call-progress.ts';
import {
  type CallOutcome,
  createCallStory,
  failed,
  type LogLevel,
  leftBehind,
  outcomeOfRun,
} from './call-story.ts';

/**
 * One call of an agent as a tool: a durable run on a dedicated thread (mcp.md A9). It continues if its client
 * disconnects, and ends if the call is cancelled.
 */
export type AgentCallDeps = {
  store: Pick<Store, 'runs' | 'messages'>;
  runtime: Pick<Runtime, 'submit' | 'admit' | 'follow' | 'cancelRun'>;
  ids: Ids;
  clock: Clock;
  log: Pick<ServiceLog, 'warn'>;
  /** @throws Invalid */
  resolve(agentId: string, resolution_id?: string): Submission['agent'];
};

/** The client of a call. */
export type AgentCaller = {
  /** Trace context of the call. */
  context: TraceContext | undefined;
  principal: Principal;
  /** The part of the scope that is its own. */
  scope: string;
  signal: AbortSignal;
  /** @param logger name of the logger */
  log(level: LogLevel, text: string, logger: string): void;
  /** Absent if the client did not request progress. */
  progress: ((progress: number, message: string) => void) | undefined;
};

export type AgentAnswer = CallOutcome & { run?: { thread_id: string; run_id: string } };

/** Never rejects: failures are returned as results. */
export const callAgent = async (
  deps: AgentCallDeps,
  caller: AgentCaller,
  { agent_id, message }: { agent_id: string; message: string },
): Promise<AgentAnswer> => {
  const { runtime, ids, resolve } = deps;
  const thread_id = `mcp-${ids.uuid()}`;
  return play(deps, caller, agent_id, async (attach) => {
    const { run_id } = await runtime.submit(caller.scope, thread_id, {
      mode: 'queue',
      agent: resolve(agent_id),
      named: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: message }] }],
      origin: 'mcp',
      adapter: 'mcp',
      context: caller.context,
      by: actorOf(caller.principal),
      attach,
    });
    return { thread_id, run_id };
  });
};

/**
 * Continues a call after a question, whether or not the decisions answer it, and even if another client answered it.
 */
export const proceedCall = async (
  deps: AgentCallDeps,
  caller: AgentCaller,
  { run_id, thread_id, agent_id, resolution_id }: Run,
  decisions: readonly DecisionInput[],
): Promise<AgentAnswer> => {
  const { runtime, resolve, store } = deps;
  const place = { thread_id, run_id };
  return play(deps, caller, agent_id, async (attach) => {
    const accepted = await runtime.admit(caller.scope, thread_id, (thread) => {
      const waits = thread.run(run_id)?.status === 'waiting' && thread.run_id === run_id;
      if (!waits || decisions.length === 0) return undefined;
      return {
        mode: 'foreground',
        agent: resolve(agent_id, resolution_id),
        named: false,
        into: run_id,
        messages: [],
        decisions: decisions.map((decision) => ({
          ...decision,
          principal: caller.principal,
          from: { route: '/v1/mcp' },
        })),
        by: actorOf(caller.principal),
        origin: 'mcp',
        adapter: 'mcp',
        attach,
      };
    });
    const isFollowed = accepted !== undefined || (await runtime.follow(place, caller.scope, attach));
    return isFollowed ? place : { ...place, outcome: outcomeOfRun(store.runs.get(caller.scope, run_id)) };
  });
};

type Place = { thread_id: string; run_id: string };

/** `outcome` is set if the run will emit no events. */
type Begun = Place & { outcome?: CallOutcome };

/** @param begin starts the run with its reader */
const play = async (
  deps: AgentCallDeps,
  caller: AgentCaller,
  agent_id: string,
  begin: (attach: Attach) => Promise<Begun>,
): Promise<AgentAnswer> => {
  const { ids, clock } = deps;
  const { scope, signal } = caller;
  const logger = `agent/${agent_id}`;
  const log = (level: LogLevel, text: string): void => caller.log(level, text, logger);
  const progress = createProgress(clock, caller.progress);
  const story = createCallStory({ log, advance: progress.advance });
  let ended = (): void => {};
  const finished = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let run: Place | undefined;
  const cancel = (): void => {
    // A call that ends with the rights of its caller continues.
    if (run && mayStill(caller.principal, ['invoke', agent_id])) cancelRun(deps, scope, run);
  };
  signal.addEventListener('abort', cancel, { once: true });
  log('info', 'starting agent run');
  try {
    const protocol = { name: `mcp ${ids.uuid()}`, createEncoder: () => story.encoder };
    const { outcome: rested, ...place } = await begin((channel) =>
      channel.attach(protocol, { write() {}, end: () => ended() }),
    );
    run = place;
    if (signal.aborted) cancel();
    if (!rested) await finished;
    progress.flush();
    const outcome = rested ?? outcomeOfStream(deps, scope, place, story.outcome());
    log(LEVELS[outcome.kind], outcome.kind === 'ended' ? 'completed' : outcome.text);
    return { ...outcome, run };
  } catch (error) {
    // Details of unexpected errors are logged only.
    if (!(error instanceof Outcome)) deps.log.warn('mcp.agent_call_failed', { err: error, agent: agent_id });
    const outcome = failed(error instanceof Outcome ? error.message : 'internal error');
    log('error', outcome.text);
    return outcome;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

const LEVELS = { ended: 'notice', left: 'notice', asked: 'error', failed: 'error' } as const;

/** The stream also ends with an error when the service releases the run; the record distinguishes the two. */
const outcomeOfStream = (
  { store }: Pick<AgentCallDeps, 'store'>,
  scope: string,
  { run_id }: Place,
  outcome: CallOutcome,
): CallOutcome => {
  const run = outcome.kind === 'failed' ? store.runs.get(scope, run_id) : undefined;
  return run && run.status !== 'done' ? leftBehind(run) : outcome;
};

const cancelRun = ({ runtime, log }: AgentCallDeps, scope: string, { thread_id, run_id }: Place): void => {
  runtime.cancelRun(scope, thread_id, run_id).catch((err) => log.warn('mcp.cancel_failed', { err, run_id }));
};
