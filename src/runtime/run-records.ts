import type { SnapshotFrom } from 'xstate';
import { advance } from '../../machines/advance.ts';
import { type RunMachineEvent, runMachine } from '../../machines/run.ts';
import { seconds } from '../schema/clock.ts';
import type { JsonObject } from '../schema/json.ts';
import {
  type Activation,
  type InferenceOverrides,
  type Resume,
  type Run,
  type RunAdapter,
  type RunMode,
  type RunOrigin,
  RunStatus,
} from '../schema/run.ts';
import type { RunIdentity } from '../schema/run-event.ts';
import { atRest, type RestState, restStateOf } from '../schema/run-state.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import type { MessageRange } from './facts.ts';
import type { ParentCall } from './submission.ts';

/** How run records come to be and change (runtime.md 2.4, 2.5). Statuses come from the machine. */

/** The status on the wire is the tag of the machine's state. `released` has none: the record stays as it is. */
export const statusOf = (snapshot: SnapshotFrom<typeof runMachine>): RunStatus => {
  const status = RunStatus.options.find((tag) => snapshot.hasTag(tag));
  if (!status)
    throw new Error(`state '${JSON.stringify(snapshot.value)}' of the run machine writes no record`);
  return status;
};

/** Whether a machine that has stopped came to an end, and was not let go. */
export const hasEnded = (snapshot: SnapshotFrom<typeof runMachine>): boolean =>
  snapshot.status === 'done' && snapshot.hasTag('done');

/** Where an event leads a run that no actor holds. @throws IllegalTransition */
export const advanceDormant = (state: RestState, event: RunMachineEvent) =>
  advance(runMachine, atRest(state), event);

/** A claimed run is running from the commit of its claim on. */
export const CLAIMED: RunStatus = statusOf(advanceDormant('created', { type: 'CLAIM' }));

/** Of a run that nothing executes: there is nothing that would have to conclude. */
export const ENDED: RunStatus = statusOf(runMachine.resolveState(atRest('completed')));

export type RunSeed = {
  run_id: string;
  thread_id: string;
  agent_id: string;
  resolution_id: string;
  origin: RunOrigin;
  adapter: RunAdapter;
  mode: RunMode;
  /** Without, a tool call drives the run. */
  dispatch_id?: string | undefined;
  /** The tool call, of a run of another thread. */
  parent?: ParentCall | undefined;
  /** Of the execution that claims it in the same commit; without, the run waits for its turn. */
  session_id?: string | undefined;
  /** milliseconds */
  at: number;
  /** Absent while the input is staged. */
  input?: { range: MessageRange | undefined; trigger_message_ids: string[] } | undefined;
  frontend_tools?: readonly ToolDescriptor[] | undefined;
  overrides?: InferenceOverrides | undefined;
  output_schema?: JsonObject | null | undefined;
  context?: TraceContext | undefined;
};

const CREATED: RunStatus = statusOf(runMachine.resolveState(atRest('created')));

export const newRun = (seed: RunSeed): Run => {
  const { thread_id, agent_id, resolution_id, dispatch_id, session_id } = seed;
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
    options: optionsWith({}, seed),
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
    resolution_id,
    activation,
    ...(input && { input }),
    status: session_id === undefined ? CREATED : CLAIMED,
    ...dispatch,
    ...session,
    created_at: at,
    ...(session_id !== undefined && { started_at: at }),
    updated_at: at,
    steps: 0,
    input_tokens: 0,
    output_tokens: 0,
    state: null,
  };
};

/** A run that a dispatch of this process goes on with, from its queue or from a wait. */
export const claimedRun = (run: Run, session_id: string, at: number): Run => {
  const { waiting: _over, ...rest } = run;
  return {
    ...rest,
    ...(run.activation && {
      activation: { ...run.activation, trace: { ...run.activation.trace, session_id } },
    }),
    status: CLAIMED,
    session_id,
    started_at: run.started_at ?? seconds(at),
    updated_at: seconds(at),
  };
};

/** The next activation of a run that waits: by new input, or by decisions (runtime.md 2.5). It waits for its turn. */
export const resumedRun = (
  run: Run,
  by: {
    mode: RunMode;
    /** Without, a tool call drives the run. */
    dispatch_id: string | undefined;
    at: number;
    decisions: [string, Resume][];
    input: boolean;
    /** Without, those that it has. */
    frontend_tools?: readonly ToolDescriptor[] | undefined;
    overrides?: InferenceOverrides | undefined;
    output_schema?: JsonObject | null | undefined;
  },
): Run => {
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
    status: statusOf(advanceDormant(restStateOf(run), { type: 'ANSWER' })),
    updated_at: seconds(by.at),
    activation: {
      ...run.activation,
      intent: {
        agent_id: run.activation?.intent.agent_id ?? agent_id,
        thread_id,
        kind: { kind, run_id },
      },
      options: optionsWith(run.activation?.options ?? {}, by),
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
  { frontend_tools: declared, overrides: before, output_schema: asked, ...rest }: Activation['options'],
  {
    frontend_tools = declared,
    overrides = before,
    output_schema = asked,
  }: {
    frontend_tools?: readonly ToolDescriptor[] | undefined;
    overrides?: InferenceOverrides | undefined;
    output_schema?: JsonObject | null | undefined;
  },
): Activation['options'] => ({
  ...rest,
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
