import type { ToolResult } from '../schema/run-event.ts';
import {
  type GateDecision,
  type Suspension,
  ToolError,
  type ToolOutput,
  type ToolProgress,
  toToolResult,
} from '../tools/tool.ts';
import type { StepCall, Turn } from './turn.ts';

/** One call: its gate, and the tool itself. Whatever a tool returns or throws becomes a result or a ticket. */

const PROCEED: GateDecision = { kind: 'proceed' };

/** A tool that the agent does not have fails when it is executed, without being asked for. */
export const gate = async (turn: Turn, entry: StepCall): Promise<GateDecision> => {
  const tool = turn.agent.tools.get(entry.call.name);
  if (!tool?.gate || entry.malformed !== undefined) return PROCEED;
  const decision = entry.ticket && turn.decisions.get(entry.call.id);
  return tool.gate({ ...entry.call, ...(decision && { decision }) });
};

export const execute = async (
  turn: Turn,
  entry: StepCall,
  signal: AbortSignal,
): Promise<ToolResult | Suspension> => {
  const startedAt = turn.clock.now();
  const tool = turn.agent.tools.get(entry.call.name);
  const outcome = await attempt(turn, entry, signal);
  const ended = { tool: tool?.descriptor.id ?? 'unknown', seconds: (turn.clock.now() - startedAt) / 1000 };
  if (outcome instanceof Error) {
    const errorClass = outcome instanceof ToolError ? outcome.kind : 'internal';
    turn.observe.tools.ended({ ...ended, status: 'failed', errorClass });
  } else {
    turn.observe.tools.ended({ ...ended, status: 'suspend' in outcome ? 'suspended' : 'succeeded' });
    if ('suspend' in outcome) return outcome;
  }
  return toToolResult(entry.call.name, outcome);
};

const attempt = async (
  turn: Turn,
  entry: StepCall,
  signal: AbortSignal,
): Promise<ToolOutput | Suspension | Error> => {
  const { call } = entry;
  const tool = turn.agent.tools.get(call.name);
  if (!tool) return ToolError.unknownTool(call.name);
  if (entry.malformed)
    return new ToolError('invalid_arguments', `the arguments are not JSON (${entry.malformed})`);
  const decision = entry.ticket && turn.decisions.get(entry.call.id);
  try {
    return await tool.execute(call.arguments, {
      run_id: turn.run_id,
      thread_id: turn.thread_id,
      call_id: call.id,
      signal,
      now: turn.clock.now,
      progress: (update) => reportProgress(turn, entry, update),
      stream: (delta) =>
        turn.stream.emit({ event_type: 'tool_call_stream_delta', id: call.id, name: call.name, delta }),
      ...(decision && { decision }),
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

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

/** A gate forbids the call. */
export const rejected = ({ call }: StepCall, reason: string): ToolResult => ({
  tool_name: call.name,
  status: 'error',
  data: null,
  message: reason,
  metadata: { rejected: true },
});
