import type { ContentBlock } from '../schema/message.ts';
import type { Resume, Run, WaitingTicket } from '../schema/run.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { restStateOf } from '../schema/run-state.ts';
import type { SubAgentCall, SubAgentEnd, SubAgentOutcome, SubAgents } from '../tools/sub-agent.ts';
import { answerFiles } from './answer-files.ts';
import type { Attach, Protocol } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import type { DecisionInput, Submission } from './submission.ts';
import type { Use } from './supervisor.ts';
import { cancelInThread, restedRun, submit } from './thread-requests.ts';
import { isOfDelegate, ticketsBelow, ticketsOf } from './wait.ts';

/**
 * Runs that are driven by tool calls of other runs (runtime.md 5.4): on threads of their own, without a dispatch.
 *
 * Guarantees: whoever follows a child learns once what it came to; a child whose call is told to stop is cancelled.
 * A child that waits is continued by the decision on the call that waits for it. Relies on ChildRuns for everything
 * that happens while no call follows the child, and on the actor of a thread to end a run whose process is gone.
 */

const MAX_DEPTH = 8;

export const createSubAgents = (deps: RuntimeDeps, use: Use, isLetGo: () => boolean): SubAgents => {
  const { ids, log, store } = deps;

  const cancel = (scope: string, { run_id, thread_id }: Pick<Run, 'run_id' | 'thread_id'>): void => {
    // What this process lets go of is ended by the next one.
    if (isLetGo()) return;
    use(scope, thread_id, (thread) => cancelInThread(thread, run_id)).catch((error) =>
      log.warn({ err: error, run_id, thread_id }, 'a sub-agent could not be cancelled'),
    );
  };

  const depthBelow = (scope: string, run_id: string): number => {
    let depth = 1;
    for (let run = store.runs.get(scope, run_id); run?.parent_run_id && depth <= MAX_DEPTH; depth += 1)
      run = store.runs.get(scope, run.parent_run_id);
    return depth;
  };

  const follow = async (
    { scope, signal }: SubAgentCall,
    child: Pick<Run, 'run_id' | 'thread_id'>,
    heard: Heard,
  ): Promise<SubAgentOutcome> => {
    const stop = (): void => cancel(scope, child);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const run = await use(scope, child.thread_id, (thread) => restedRun(thread, child.run_id));
      const outcome = outcomeOf(child.run_id, run, heard);
      const files = outcome.status === 'completed' ? answerFiles(store, scope, child) : [];
      return files.length > 0 ? { ...outcome, files } : outcome;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };

  /** By scope and root: runs that are being started and that the store does not count yet. */
  const starting = new Map<string, number>();

  /** Counts the run below its root for as long as the store does not, and starts it. */
  const startBelow = async <Started>(
    scope: string,
    root_run_id: string,
    start: () => Promise<Started>,
  ): Promise<Started> => {
    const { max_runs_below_run: most } = deps.settings;
    const key = `${scope}\0${root_run_id}`;
    const ahead = starting.get(key) ?? 0;
    if (store.runs.countBelow(scope, root_run_id) + ahead >= most) {
      throw new Error(`a run may start ${most} runs of sub-agents, with those that they start in turn`);
    }
    starting.set(key, ahead + 1);
    try {
      return await start();
    } finally {
      const left = (starting.get(key) ?? 1) - 1;
      if (left === 0) starting.delete(key);
      else starting.set(key, left);
    }
  };

  const rootOf = (scope: string, run_id: string): string =>
    store.runs.get(scope, run_id)?.activation?.trace.root_run_id ?? run_id;

  const driven = (
    call: SubAgentCall,
    { agent, resolution_id }: { agent: string; resolution_id: string | undefined },
    heard: Heard,
  ): Omit<Submission, 'messages'> => ({
    mode: 'sub_agent',
    agent: deps.resolve(agent, resolution_id),
    named: true,
    origin: 'subagent',
    adapter: 'internal',
    attach: listener(call, heard),
    parent: {
      run_id: call.run_id,
      thread_id: call.thread_id,
      call_id: call.call_id,
      root_run_id: rootOf(call.scope, call.run_id),
    },
    context: call.trace,
  });

  return {
    async start({ agent, prompt, ...call }) {
      const { scope } = call;
      if (call.signal.aborted) return { ...UNSTARTED, status: 'cancelled' };
      try {
        if (depthBelow(scope, call.run_id) > MAX_DEPTH)
          throw new Error(`sub-agents may be nested ${MAX_DEPTH} levels deep, not more`);
        const heard: Heard = {};
        // A delegate is a part of what its parent was resolved with.
        const resolution_id = store.runs.get(scope, call.run_id)?.resolution_id;
        const submission = { ...driven(call, { agent, resolution_id }, heard), messages: said(prompt) };
        const child = await startBelow(scope, rootOf(scope, call.run_id), () =>
          use(scope, ids.uuid(), (thread) => submit(thread, submission)),
        );
        return await follow(call, child, heard);
      } catch (error) {
        return { ...UNSTARTED, status: 'failed', reason: reasonOf(error) };
      }
    },
    async proceed({ child_run_id, decision, ...call }) {
      const { scope } = call;
      const child = store.runs.get(scope, child_run_id);
      if (!child) return { ...UNSTARTED, status: 'failed', reason: `run not found: ${child_run_id}` };
      try {
        const heard: Heard = {};
        await use(scope, child.thread_id, async (thread) => {
          // A child that was decided elsewhere has resumed already: its outcome is the result.
          const waiting = thread.ledger.waiting.get(child_run_id);
          const input = waiting && inputFor(waiting, decision);
          if (!input) return;
          await submit(thread, {
            ...driven(call, { agent: child.agent_id, resolution_id: child.resolution_id }, heard),
            into: child_run_id,
            ...input,
          });
        });
        return await follow(call, child, heard);
      } catch (error) {
        cancel(scope, child);
        return { ...UNSTARTED, child_run_id, status: 'failed', reason: reasonOf(error) };
      }
    },
    end(scope, child_run_id) {
      const child = store.runs.get(scope, child_run_id);
      if (child) cancel(scope, child);
    },
  };
};

const UNSTARTED = { child_run_id: undefined, response: '', steps: 0 };

/** What the call that suspended the child last says that it waits for. */
type Heard = { question?: string };

/** A reader that gets events instead of frames. */
const listener =
  ({ onEvent }: SubAgentCall, heard: Heard): Attach =>
  (channel) => {
    const take = (event: RunEvent): string => {
      const question = event.event_type === 'tool_call_done' && event.result.suspension?.suspension.message;
      if (question) heard.question = question;
      onEvent(event);
      return '';
    };
    const protocol: Protocol = {
      name: 'sub-agent',
      createEncoder: () => ({
        event: take,
        text: (delta) => take({ event_type: 'text_delta', delta }),
        reasoning: () => '',
        toolDelta: () => '',
      }),
    };
    channel.attach(protocol, { write() {}, end() {} });
  };

const said = (text: string): { role: 'user'; content: ContentBlock[] }[] => [
  { role: 'user', content: [{ type: 'text', text }] },
];

/** What of a decision is for this child; undefined when nothing of it is, or not any more. */
const inputFor = (child: Run, decision: Resume): Pick<Submission, 'messages' | 'decisions'> | undefined => {
  const { below } = decision;
  const open = ticketsOf(child);
  const hasTickets = (child.waiting?.tickets?.length ?? 0) > 0;
  if (!below && !hasTickets) return { messages: said(inputOf(decision.result)) };
  const decisions = open.flatMap((ticket): DecisionInput[] => {
    if (!below) return !ticket.tickets && isOfDelegate(ticket) ? [decisionOn(ticket, decision)] : [];
    const accepted = below.filter((each) => isOn(each, child, ticket));
    return accepted.length > 0 ? [{ ...decisionOn(ticket, decision), accepted }] : [];
  });
  return decisions.length > 0 ? { messages: [], decisions } : undefined;
};

type Below = NonNullable<Resume['below']>[number];

const isOn = (
  { run_id, ticket_id }: Below,
  child: Pick<Run, 'run_id'>,
  { ticket_id: own, tickets = [] }: WaitingTicket,
): boolean =>
  (run_id === child.run_id && ticket_id === own) ||
  tickets.some((each) => each.run_id === run_id && each.id === ticket_id);

const decisionOn = (
  { ticket_id }: WaitingTicket,
  { action, result, reason, decided_by }: Resume,
): DecisionInput => ({
  tool_call_id: ticket_id,
  action,
  payload: result,
  ...(reason !== undefined && { reason }),
  ...(decided_by !== undefined && { decided_by }),
});

/** The answer to a child that asked for input. */
const inputOf = (payload: Resume['result']): string => {
  if (typeof payload === 'string') return payload;
  const text = typeof payload === 'object' && payload !== null && 'text' in payload && payload.text;
  return typeof text === 'string' ? text : JSON.stringify(payload);
};

const outcomeOf = (child_run_id: string, run: Run | undefined, heard: Heard): SubAgentOutcome => ({
  child_run_id,
  response: run?.final_output ?? '',
  steps: run?.steps ?? 0,
  ...(run?.structured_output !== undefined && { output: { structured: run.structured_output } }),
  ...endOf(run, heard),
});

const endOf = (run: Run | undefined, heard: Heard): SubAgentEnd => {
  if (!run) return { status: 'failed', reason: 'the run was interrupted' };
  if (run.waiting)
    return {
      status: 'waiting',
      needs: needsOf(run),
      ...questionOf(run, heard),
      tickets: ticketsBelow(run),
    };
  const termination = run.termination_reason;
  switch (termination?.type) {
    case 'natural_end':
    case 'behavior_requested':
      return { status: 'completed' };
    case 'cancelled':
      return { status: 'cancelled' };
    case 'stopped':
      return { status: 'failed', reason: `stopped: ${termination.value.code}` };
    case 'blocked':
      return { status: 'failed', reason: `blocked: ${termination.value}` };
    default:
      return { status: 'failed', reason: run.error_payload?.message ?? 'the run has no end' };
  }
};

/** What the one ticket asks; of several it is said which tools they are for. */
const questionOf = (run: Run, { question }: Heard): { message?: string } => {
  const [, another] = ticketsBelow(run);
  const asked = run.waiting?.tickets?.find(({ message }) => message)?.message ?? question;
  if (!another) return asked ? { message: asked } : {};
  const tools = ticketsBelow(run).map(({ tool }) => `'${tool}'`);
  return { message: `Decisions required for ${tools.length} calls: ${tools.join(', ')}` };
};

/** What a sub-agent of the child needs, the child needs. */
const needsOf = (run: Run) => {
  switch (restStateOf(run)) {
    case 'forInput':
      return 'input_required';
    case 'forAuthentication':
      return 'auth_required';
    default:
      return 'suspended';
  }
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
