import type { HookOutcome } from '../plugins/plugin.ts';
import type { Resume } from '../schema/activation.ts';
import { monotonic } from '../schema/clock.ts';
import type { ToolResult } from '../schema/run-event.ts';
import { type CheckedOutput, checkedOutput } from '../tools/checked-output.ts';
import {
  type GateDecision,
  type GatedCall,
  type Json,
  type Suspension,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
  type ToolProgress,
  toToolResult,
} from '../tools/tool.ts';
import { checkedArguments } from '../tools/validate.ts';
import { isApproval } from '../tools/verdict.ts';
import { addParts, excessWith } from './answer-parts.ts';
import { askModel } from './ask-model.ts';
import { keepCall } from './calls.ts';
import { createHookContext, runPhase, take } from './phases.ts';
import { sortedParts } from './plugin-parts.ts';
import { createToolTasks } from './tasks.ts';
import { toolTraceContext } from './trace.ts';
import { argumentsOf, type Executed, type OpenTicket, type StepCall, type Turn } from './turn.ts';

/** One call: its gate, and its tool. Each return value or error of a tool becomes a result or a ticket. */

export const PROCEED: GateDecision = { kind: 'proceed' };

/** The order of precedence of gate decisions; between equal decisions, the plugin listed first wins. */
const WEIGHT = ['block', 'suspend', 'set_result'] as const satisfies GateDecision['kind'][];

const checkedArgumentsOf = async (turn: Turn, tool: Tool, entry: StepCall): Promise<Json | ToolError> => {
  try {
    return await checkedArguments(tool, argumentsOf(entry), (problem) =>
      turn.warn('tool.schema_unusable', { tool: entry.call.name, problem }),
    );
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
};

/** Returns the call as gates receive it. A call of an unknown tool is not gated; it fails when it is executed. */
export const gatedCall = (
  entry: StepCall,
  decision: Resume | undefined,
  tool?: Pick<Tool, 'changed_at'>,
): GatedCall => {
  const { call, ticket, passed } = entry;
  return {
    ...call,
    arguments: argumentsOf(entry),
    ...(tool?.changed_at !== undefined && { changed_at: tool.changed_at }),
    ...(decision && { decision }),
    ...(ticket && { resume_mode: ticket.resume_mode }),
    ...((passed || isPermitted(ticket, decision)) && { approved: true }),
    ...((passed || (ticket?.deciders === 'others' && isPermitted(ticket, decision))) && {
      approved_by_others: true,
    }),
  };
};

const isPermitted = (ticket: OpenTicket | undefined, decision: Resume | undefined): boolean =>
  ticket?.resume_mode === 'replay_tool_call' && isApproval(decision);

export const gate = async (turn: Turn, entry: StepCall, signal: AbortSignal): Promise<GateDecision> => {
  const tool = turn.agent.tools.get(entry.call.name);
  if (!tool || entry.malformed !== undefined) return PROCEED;
  const { gates } = sortedParts(turn.agent);
  if (gates.length === 0 && !tool.gate) return PROCEED;
  const decision = entry.ticket && turn.decisions.get(entry.call.id);
  // A call that cannot be executed needs no approval.
  const args = await checkedArgumentsOf(turn, tool, entry);
  if (args instanceof ToolError || tool.refuses?.(args)) return PROCEED;
  const call = gatedCall(entry, decision, tool);
  const pending = gates.map((ask) => ask(call, createHookContext(turn, signal)));
  if (tool.gate) pending.push(tool.gate(call));
  const answers = await Promise.all(pending);
  const heaviest = WEIGHT.flatMap((kind) => answers.filter((answer) => answer.kind === kind));
  const [first = PROCEED] = heaviest;
  // The client receives one request: executing the call includes its approval, unless others must approve it.
  return first.kind === 'suspend'
    ? (heaviest.find(isForOthers) ?? heaviest.find(isForClient) ?? first)
    : first;
};

const isForOthers = (decision: GateDecision): boolean =>
  decision.kind === 'suspend' && decision.ticket.deciders === 'others';

const isForClient = (decision: GateDecision): boolean =>
  decision.kind === 'suspend' && decision.ticket.resume_mode === 'use_decision_as_tool_result';

export const execute = async (
  turn: Turn,
  entry: StepCall,
  signal: AbortSignal,
): Promise<Executed | Suspension> => {
  const { id, name } = entry.call;
  turn.stream.emit({ event_type: 'tool_call_executing', id, name });
  await runPhase(turn, 'before_tool_execute', signal, { call: entry.call });
  const startedAt = monotonic(turn.clock);
  const tool = turn.agent.tools.get(entry.call.name);
  const outcome = await attempt(turn, entry, signal);
  const seconds = (monotonic(turn.clock) - startedAt) / 1000;
  entry.ran = { ended_at: turn.clock.now(), seconds };
  const ended = { agent: turn.agent.spec.id, tool: tool?.descriptor.id ?? 'unknown', seconds };
  if (outcome instanceof Error) {
    const errorClass = outcome instanceof ToolError ? outcome.kind : 'internal';
    turn.observe.tools.ended({ ...ended, status: 'failed', errorClass });
  } else {
    turn.observe.tools.ended({ ...ended, status: 'suspend' in outcome ? 'suspended' : 'succeeded' });
    if ('suspend' in outcome) return outcome;
  }
  const executed = executedAs(entry.call.name, outcome);
  if (tool?.delegatesTo !== undefined) {
    const status = executed.result.status === 'success' ? 'ok' : 'error';
    turn.observe.agents.delegation(ended.agent, { status, seconds });
  }
  return executed;
};

const executedAs = (tool: string, outcome: CheckedOutput | Error): Executed => {
  if (outcome instanceof Error) return { result: toToolResult(tool, outcome), asks: {}, parts: [] };
  const { output, content, parts } = outcome;
  const { state, actions } = output;
  const asks = { ...(state && { state }), ...(actions && { actions }) };
  return { result: toToolResult(tool, output), asks, parts, ...(content && { content }) };
};

/** Returns the outcome for a result that a gate has provided. */
export const givenByGate = ({ call }: StepCall, output: ToolOutput): Executed =>
  executedAs(call.name, checkedOutput(output));

/** Calls share the size limit of one answer, in their order; a call whose parts exceed it fails. */
export const withinAnswer = (turn: Turn, entry: StepCall, executed: Executed): Executed => {
  const excess = excessWith(turn, executed.parts, sourceOfParts(entry));
  if (excess === undefined) return executed;
  return executedAs(executed.result.tool_name, new ToolError('execution_failed', `parts: ${excess}`));
};

/** Adds the parts of the call to the next answer; they become durable with its result. */
export const addCallParts = (turn: Turn, entry: StepCall, { parts }: Executed): void =>
  addParts(turn, parts, sourceOfParts(entry));

/** A repeated execution has the same source, so its parts replace the earlier ones. */
const sourceOfParts = ({ call }: StepCall): string => `call ${call.id}`;

/** Applies the parts, state and actions that the tool has returned, then runs the hooks. */
export const finishCall = async (
  turn: Turn,
  entry: StepCall,
  executed: Executed,
  signal: AbortSignal,
): Promise<void> => {
  const { result, asks } = executed;
  addCallParts(turn, entry, executed);
  // Keys and payloads are those of plugin.ts; unknown actions of a tool have no effect.
  take(turn, asks as HookOutcome);
  await runPhase(turn, 'after_tool_execute', signal, { call: entry.call, result });
};

const attempt = async (
  turn: Turn,
  entry: StepCall,
  signal: AbortSignal,
): Promise<CheckedOutput | Suspension | Error> => {
  const { call } = entry;
  const tool = turn.agent.tools.get(call.name);
  if (!tool) return ToolError.unknownTool(call.name);
  if (entry.malformed) return new ToolError('invalid_arguments', entry.malformed);
  /** Remote work of the call is stopped, unless another process will continue the run. */
  const dropKept = (): void => {
    if (!turn.isReleased) keepCall(turn, entry, undefined);
  };
  signal.addEventListener('abort', dropKept, { once: true });
  try {
    const args = await checkedArgumentsOf(turn, tool, entry);
    if (args instanceof ToolError) return args;
    const output = await tool.execute(args, toolContext(turn, entry, signal));
    if (!signal.aborted) keepCall(turn, entry, undefined);
    return 'suspend' in output ? output : checkedOutput(output, turn.acceptFiles);
  } catch (error) {
    if (!signal.aborted) keepCall(turn, entry, undefined);
    if (error instanceof ToolError) return error;
    // Clients receive only the message; the author of the tool needs the stack trace.
    if (!signal.aborted) turn.warn('tool.failed', { err: error, tool: call.name });
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    signal.removeEventListener('abort', dropKept);
  }
};

/** The second argument of a tool. */
const toolContext = (turn: Turn, entry: StepCall, signal: AbortSignal): ToolContext => {
  const { call, ticket, kept } = entry;
  const { actsFor } = turn;
  const decision = ticket && turn.decisions.get(call.id);
  const tasks = createToolTasks(turn, entry);
  const trace = toolTraceContext(turn, entry);
  return {
    scope: turn.scope,
    run_id: turn.run_id,
    thread_id: turn.thread_id,
    call_id: call.id,
    agent_id: turn.agent.spec.id,
    ...(actsFor?.user !== undefined && { acts_for: { ...actsFor, user: actsFor.user } }),
    signal,
    ...(trace && { trace }),
    now: turn.clock.now,
    progress: (update) => reportProgress(turn, entry, update),
    stream: (delta) =>
      turn.stream.emit({ event_type: 'tool_call_stream_delta', id: call.id, name: call.name, delta }),
    relay: (message_id, progress) => relayProgress(turn, entry, message_id, progress),
    state: turn.state.view(),
    ...(tasks && { tasks }),
    ...(turn.mail && { mail: turn.mail }),
    ...(turn.files && { files: turn.files }),
    ...(decision && ticket && resumedWith(decision, ticket)),
    ...(kept !== undefined && { kept }),
    async keep(value) {
      if (signal.aborted) return;
      keepCall(turn, entry, value);
      await turn.checkpoint();
    },
    isLetGo: () => turn.isReleased === true,
    askModel: (question, given) => askModel(turn, question, given),
  };
};

const resumedWith = (decision: Resume, { id, resume_with }: OpenTicket) => ({
  decision,
  ticket_id: id,
  ...(resume_with !== undefined && { resume_with }),
});

const reportProgress = (turn: Turn, { call }: StepCall, update: ToolProgress): void =>
  turn.stream.emit({
    event_type: 'activity_snapshot',
    message_id: call.id,
    activity_type: 'tool-call-progress',
    replace: true,
    content: {
      schema: 'tool-call-progress.v1',
      node_id: `tool_call:${call.id}`,
      call_id: call.id,
      tool_name: call.name,
      ...update,
      parent_node_id: `run:${turn.run_id}`,
      run_id: turn.run_id,
      thread_id: turn.thread_id,
    },
  });

/** Clients show it below the call that it belongs to (agent-loop.md 6.4). */
const relayProgress = (
  turn: Turn,
  { call }: StepCall,
  message_id: string,
  progress: Parameters<ToolContext['relay']>[1],
): void =>
  turn.stream.emit({
    event_type: 'activity_snapshot',
    message_id,
    activity_type: 'tool-call-progress',
    replace: true,
    content: {
      ...progress,
      parent_node_id: `tool_call:${call.id}`,
      parent_call_id: call.id,
      parent_run_id: turn.run_id,
    },
  });

/** Returns the result of a call that a gate forbids. */
export const rejected = ({ call }: StepCall, reason: string): ToolResult => ({
  tool_name: call.name,
  status: 'error',
  data: null,
  message: reason,
  metadata: { rejected: true },
});
