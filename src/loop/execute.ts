import type { HookOutcome } from '../plugins/plugin.ts';
import { blocksOfParts } from '../schema/answer-part.ts';
import { monotonic } from '../schema/clock.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Resume } from '../schema/run.ts';
import type { ToolResult } from '../schema/run-event.ts';
import { jsonOutput } from '../tools/json-output.ts';
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
import { checkedContent } from '../tools/tool-content.ts';
import { checkedArguments } from '../tools/validate.ts';
import { isApproval } from '../tools/verdict.ts';
import { addParts, excessWith } from './answer-parts.ts';
import { askModel } from './ask-model.ts';
import { keepCall } from './calls.ts';
import { contextOf, runPhase, take } from './phases.ts';
import { partsOf } from './plugin-parts.ts';
import { tasksOf } from './tasks.ts';
import { contextOfTool } from './trace.ts';
import { argumentsOf, type Executed, type OpenTicket, type StepCall, type Turn } from './turn.ts';

/** One call: its gate, and the tool itself. Whatever a tool returns or throws becomes a result or a ticket. */

const PROCEED: GateDecision = { kind: 'proceed' };

/** The first of these that a gate answers decides; of two gates with the same answer, the plugin listed first. */
const WEIGHT = ['block', 'suspend', 'set_result'] as const satisfies GateDecision['kind'][];

const checkedArgumentsOf = async (turn: Turn, tool: Tool, entry: StepCall): Promise<Json | ToolError> => {
  try {
    return await checkedArguments(tool, argumentsOf(entry), (problem) =>
      turn.warn({ tool: entry.call.name, problem }, 'arguments are not checked: the schema cannot be used'),
    );
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
};

/** A tool that the agent does not have fails when it is executed, without being asked for. */
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
  };
};

const isPermitted = (ticket: OpenTicket | undefined, decision: Resume | undefined): boolean =>
  ticket?.resume_mode === 'replay_tool_call' && isApproval(decision);

export const gate = async (turn: Turn, entry: StepCall, signal: AbortSignal): Promise<GateDecision> => {
  const tool = turn.agent.tools.get(entry.call.name);
  if (!tool || entry.malformed !== undefined) return PROCEED;
  const { gates } = partsOf(turn.agent);
  if (gates.length === 0 && !tool.gate) return PROCEED;
  const decision = entry.ticket && turn.decisions.get(entry.call.id);
  // Nobody is asked about a call that cannot run.
  const args = await checkedArgumentsOf(turn, tool, entry);
  if (args instanceof ToolError || tool.refuses?.(args)) return PROCEED;
  const call = gatedCall(entry, decision, tool);
  const asked = gates.map((ask) => ask(call, contextOf(turn, signal)));
  if (tool.gate) asked.push(tool.gate(call));
  const answers = await Promise.all(asked);
  const heaviest = WEIGHT.flatMap((kind) => answers.filter((answer) => answer.kind === kind));
  // The client is asked once: where it executes the call, that is its approval too.
  return heaviest.find(isForClient) ?? heaviest[0] ?? PROCEED;
};

const isForClient = (decision: GateDecision): boolean =>
  decision.kind === 'suspend' && decision.ticket.resume_mode === 'use_decision_as_tool_result';

export const execute = async (
  turn: Turn,
  entry: StepCall,
  signal: AbortSignal,
): Promise<Executed | Suspension> => {
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

const executedAs = (tool: string, outcome: Checked | Error): Executed => {
  if (outcome instanceof Error) return { result: toToolResult(tool, outcome), asks: {}, parts: [] };
  const { output, content, parts } = outcome;
  const { state, actions } = output;
  const asks = { ...(state && { state }), ...(actions && { actions }) };
  return { result: toToolResult(tool, output), asks, parts, ...(content && { content }) };
};

/** A gate has given the result. */
export const givenByGate = ({ call }: StepCall, output: ToolOutput): Executed =>
  executedAs(call.name, checked(output));

/** Calls share what one answer may hold, in their order; one for whose parts no room is left has failed. */
export const withinAnswer = (turn: Turn, entry: StepCall, executed: Executed): Executed => {
  const excess = excessWith(turn, executed.parts, adderOf(entry));
  if (excess === undefined) return executed;
  return executedAs(executed.result.tool_name, new ToolError('execution_failed', `parts: ${excess}`));
};

/** An output that can be sent and stored, and its content and parts as they will be. */
type Checked = Pick<Executed, 'content' | 'parts'> & { output: ToolOutput };

const checked = (given: ToolOutput): Checked | ToolError => {
  const output = jsonOutput(given);
  if (output instanceof ToolError) return output;
  try {
    const content = output.content && checkedContent(output.content);
    return { output, parts: output.parts ? blocksOfParts(output.parts) : [], ...(content && { content }) };
  } catch (error) {
    if (error instanceof Invalid) return new ToolError('execution_failed', error.message);
    throw error;
  }
};

/** What the call adds to the next answer, durable with its result. */
export const addPartsOf = (turn: Turn, entry: StepCall, { parts }: Executed): void =>
  addParts(turn, parts, adderOf(entry));

/** Executed again, it is the same one. */
const adderOf = ({ call }: StepCall): string => `call ${call.id}`;

/** What follows a result: the parts, state and actions that the tool asks for, then the hooks. */
export const finishCall = async (
  turn: Turn,
  entry: StepCall,
  executed: Executed,
  signal: AbortSignal,
): Promise<void> => {
  const { result, asks } = executed;
  addPartsOf(turn, entry, executed);
  // Keys and payloads are those of plugin.ts; a tool that schedules anything else schedules nothing that is known.
  take(turn, asks as HookOutcome);
  await runPhase(turn, 'after_tool_execute', signal, { call: entry.call, result });
};

const attempt = async (
  turn: Turn,
  entry: StepCall,
  signal: AbortSignal,
): Promise<Checked | Suspension | Error> => {
  const { call } = entry;
  const tool = turn.agent.tools.get(call.name);
  if (!tool) return ToolError.unknownTool(call.name);
  if (entry.malformed) return new ToolError('invalid_arguments', entry.malformed);
  const decision = entry.ticket && turn.decisions.get(entry.call.id);
  const tasks = tasksOf(turn, entry);
  const trace = contextOfTool(turn, entry);
  /** Whoever is at work for the call is told to stop, unless another process will go on with it. */
  const dropKept = (): void => {
    if (!turn.letGo) keepCall(turn, entry, undefined);
  };
  signal.addEventListener('abort', dropKept, { once: true });
  try {
    const args = await checkedArgumentsOf(turn, tool, entry);
    if (args instanceof ToolError) return args;
    const output = await tool.execute(args, {
      scope: turn.scope,
      run_id: turn.run_id,
      thread_id: turn.thread_id,
      call_id: call.id,
      agent_id: turn.agent.spec.id,
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
      ...(decision && entry.ticket && resumedWith(decision, entry.ticket)),
      ...(entry.kept !== undefined && { kept: entry.kept }),
      async keep(kept) {
        if (signal.aborted) return;
        keepCall(turn, entry, kept);
        await turn.checkpoint();
      },
      isLetGo: () => turn.letGo === true,
      askModel: (question, given) => askModel(turn, question, given),
    });
    if (!signal.aborted) keepCall(turn, entry, undefined);
    return 'suspend' in output ? output : checked(output);
  } catch (error) {
    if (!signal.aborted) keepCall(turn, entry, undefined);
    if (error instanceof ToolError) return error;
    // Clients are told its words; whoever wrote the tool needs to know where it came from.
    if (!signal.aborted) turn.warn({ err: error, tool: call.name }, 'a tool failed');
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    signal.removeEventListener('abort', dropKept);
  }
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

/** Clients show it beneath the call that it works for (agent-loop.md 6.4). */
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

/** A gate forbids the call. */
export const rejected = ({ call }: StepCall, reason: string): ToolResult => ({
  tool_name: call.name,
  status: 'error',
  data: null,
  message: reason,
  metadata: { rejected: true },
});
