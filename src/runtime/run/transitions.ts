import type { SnapshotFrom } from 'xstate';
import { advance, IllegalTransition } from '../../../machines/advance.ts';
import { runMachine } from '../../../machines/run.ts';
import type { RunMachineEvent } from '../../../machines/run-types.ts';
import type { Activation, Resume, RunAdapter, RunMode, RunOrigin } from '../../schema/activation.ts';
import type { Actor } from '../../schema/actor.ts';
import { seconds } from '../../schema/clock.ts';
import type { Run, RunStatus } from '../../schema/run.ts';
import type { RunIdentity } from '../../schema/run-event.ts';
import {
  hasTag,
  inState,
  type RunRecord,
  type RunState,
  recordedState,
  stateAt,
} from '../../schema/run-state.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import type { MessageRange } from '../ledger/event-payloads.ts';
import type { ParentCall, RunOptions } from '../thread/submission.ts';

/** Creates and changes run records (runtime.md 2.4, 2.5). Their states come from the machine. */

/** Whether a stopped machine has ended, as opposed to being released. */
export const hasEnded = (snapshot: SnapshotFrom<typeof runMachine>): boolean =>
  snapshot.status === 'done' && snapshot.hasTag('done');

/** Returns the snapshot after an event for a run without an actor. @throws IllegalTransition */
export const advanceDormant = (state: RunState, event: RunMachineEvent) =>
  advance(runMachine, stateAt(state), event);

type Event = 'CLAIM' | 'RESUME' | 'ANSWER';

/** States by event and state, each computed when it is first needed, because a transition is expensive. */
const computed = new Map<string, RunState | undefined>();

/** Returns the state that the event leads to from the state of a record; undefined if the event is not allowed there. */
const stateAfter = (state: RunState, type: Event): RunState | undefined => {
  const key = `${type} ${state}`;
  if (!computed.has(key)) {
    const isAllowed = runMachine.resolveState(stateAt(state)).can({ type });
    computed.set(key, isAllowed ? recordedState(advanceDormant(state, { type })) : undefined);
  }
  return computed.get(key);
};

/** @throws IllegalTransition */
const nextState = (state: RunState, type: Event): RunState => {
  const next = stateAfter(state, type);
  if (!next) throw new IllegalTransition(runMachine.id, state, type);
  return next;
};

/** A claim continues a run in the state of its record: one that was executing continues there. */
const claimedState = (state: RunState): RunState =>
  stateAfter(state, 'CLAIM') ??
  (hasTag({ machine_state: state }, 'waiting') ? nextState(state, 'RESUME') : state);

/** Returns the state of a wait whose decision or input is durable. */
export const answeredState = (state: RunState): RunState => nextState(state, 'ANSWER');

/** Returns the record with input or a decision that has arrived: it ends a wait that is being written. */
export const answeredRun = (run: RunRecord): RunRecord =>
  hasTag(run, 'waiting') ? { ...run, ...inState(answeredState(run.machine_state)) } : run;

/** The status of a run from the commit of its claim. */
export const claimedStatus = (): RunStatus => inState(claimedState('created')).status;

export type RunSeed = {
  run_id: string;
  thread_id: string;
  agent_id: string;
  resolution_id: string;
  agent_version: number | undefined;
  origin: RunOrigin;
  adapter: RunAdapter;
  mode: RunMode;
  /** Without it, a tool call drives the run. */
  dispatch_id?: string | undefined;
  /** The tool call that drives the run, in another thread. */
  parent?: ParentCall | undefined;
  /** The session that claims the run in the same commit; without it, the run is queued. */
  session_id?: string | undefined;
  /** Milliseconds. */
  at: number;
  /** Absent while the input is staged. */
  input?: { range: MessageRange | undefined; trigger_message_ids: string[] } | undefined;
  options?: RunOptions | undefined;
  context?: TraceContext | undefined;
  owner?: string | undefined;
  by?: Actor | undefined;
};

export const newRun = (seed: RunSeed): RunRecord => {
  const { thread_id, agent_id, agent_version, resolution_id, dispatch_id, session_id } = seed;
  const at = seconds(seed.at);
  const input = seed.input && {
    thread_id,
    ...(seed.input.range && { range: seed.input.range }),
    trigger_message_ids: seed.input.trigger_message_ids,
  };
  const session = session_id !== undefined && { session_id };
  const dispatch = dispatch_id !== undefined && { dispatch_id };
  const activation: Activation = {
    intent: { agent_id, thread_id, kind: { kind: 'new_intent' } },
    ...(input && { input }),
    options: optionsWith({}, seed.options),
    trace: {
      ...(seed.parent && {
        parent_run_id: seed.parent.run_id,
        parent_thread_id: seed.parent.thread_id,
        parent_tool_call_id: seed.parent.call_id,
        root_run_id: seed.parent.root_run_id,
      }),
      origin: seed.origin,
      adapter: seed.adapter,
      run_mode: seed.mode,
      ...dispatch,
      ...session,
      ...(seed.context && { context: seed.context }),
    },
    resolution_id,
  };
  return {
    run_id: seed.run_id,
    thread_id,
    agent_id,
    parent_run_id: seed.parent?.run_id ?? null,
    ...(seed.owner !== undefined && { owner: seed.owner }),
    ...seed.by,
    resolution_id,
    ...(agent_version !== undefined && { agent_version }),
    activation,
    ...(input && { input }),
    ...inState(session_id === undefined ? 'created' : claimedState('created')),
    ...dispatch,
    ...session,
    created_at: at,
    ...(session_id !== undefined && { started_at: at, started_at_ms: seed.at }),
    updated_at: at,
    steps: 0,
    input_tokens: 0,
    output_tokens: 0,
    state: null,
  };
};

/** Returns a run that a dispatch of this process continues, from its queue or from a wait. */
export const claimedRun = (run: RunRecord, session_id: string, at: number): RunRecord => {
  const { waiting: _over, ...rest } = run;
  return {
    ...rest,
    ...(run.activation && {
      activation: { ...run.activation, trace: { ...run.activation.trace, session_id } },
    }),
    ...inState(claimedState(run.machine_state)),
    session_id,
    started_at: run.started_at ?? seconds(at),
    ...(run.started_at === undefined && { started_at_ms: at }),
    updated_at: seconds(at),
  };
};

/**
 * Returns a waiting run with its next activation: by new input, or by decisions (runtime.md 2.5). The run is queued.
 */
export const resumedRun = (
  run: RunRecord,
  by: {
    mode: RunMode;
    /** Without it, a tool call drives the run. */
    dispatch_id: string | undefined;
    at: number;
    decisions: [string, Resume][];
    input: boolean;
    options?: RunOptions | undefined;
  },
): RunRecord => {
  const { dispatch_id: _before, ...rest } = run;
  const { run_id, thread_id, agent_id } = run;
  const dispatch = by.dispatch_id !== undefined && { dispatch_id: by.dispatch_id };
  const kind = by.input ? 'continuation_from_run' : 'hitl_resume';
  const {
    dispatch_id: _traced,
    session_id: _over,
    ...before
  } = run.activation?.trace ?? {
    origin: 'user' as const,
    adapter: 'internal' as const,
    dispatch_id: undefined,
    session_id: undefined,
  };
  return {
    ...rest,
    ...dispatch,
    ...inState(answeredState(run.machine_state)),
    updated_at: seconds(by.at),
    activation: {
      ...run.activation,
      intent: {
        agent_id: run.activation?.intent.agent_id ?? agent_id,
        thread_id,
        kind: { kind, run_id },
      },
      options: optionsWith(run.activation?.options ?? {}, by.options),
      trace: {
        ...before,
        run_mode: by.mode,
        ...dispatch,
      },
      seeded_decisions: by.decisions,
    },
  };
};

const optionsWith = (
  {
    frontend_tools: declared,
    overrides: before,
    output_schema: schemaBefore,
    instructions: instructionsBefore,
    continue_truncated: truncationBefore,
    max_tool_calls: callsBefore,
    request_echo: echoBefore,
    leg: legBefore,
    ...rest
  }: Activation['options'],
  {
    frontend_tools = declared,
    overrides = before,
    output_schema = schemaBefore,
    instructions = instructionsBefore,
    continue_truncated = truncationBefore,
    max_tool_calls = callsBefore,
    request_echo = echoBefore,
    leg = legBefore,
  }: RunOptions = {},
): Activation['options'] => ({
  ...rest,
  ...(instructions !== undefined && { instructions }),
  ...(continue_truncated !== undefined && { continue_truncated }),
  ...(max_tool_calls != null && { max_tool_calls }),
  ...(leg && { leg }),
  ...(request_echo && { request_echo }),
  ...(overrides && { overrides }),
  ...(output_schema !== undefined && { output_schema }),
  ...(frontend_tools && frontend_tools.length > 0 && { frontend_tools: [...frontend_tools] }),
});

export const identityOf = (run: Run): RunIdentity => {
  const trace = run.activation?.trace;
  return {
    thread_id: run.thread_id,
    ...(trace?.parent_thread_id !== undefined && { parent_thread_id: trace.parent_thread_id }),
    run_id: run.run_id,
    ...(run.parent_run_id !== null && { parent_run_id: run.parent_run_id }),
    agent_id: run.agent_id,
    ...(trace?.parent_tool_call_id !== undefined && { parent_tool_call_id: trace.parent_tool_call_id }),
    ...(run.dispatch_id !== undefined && { dispatch_id: run.dispatch_id }),
    ...(run.session_id !== undefined && { session_id: run.session_id }),
    origin: trace?.origin ?? 'user',
    ...(trace && trace.run_mode !== 'foreground' && { run_mode: trace.run_mode }),
    ...(trace && trace.adapter !== 'internal' && { adapter: trace.adapter }),
  };
};
