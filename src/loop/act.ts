import type { ToolResult } from '../schema/run-event.ts';
import { ToolError, type ToolOutput, type ToolProgress, toToolResult } from '../tools/tool.ts';
import { advanceCall } from './calls.ts';
import { INTERRUPTED } from './history.ts';
import { produce, type StepCall, type Turn } from './turn.ts';

/**
 * Executes the calls of a step. The assistant message with its calls is durable before any tool starts, so that
 * a crash can tell a call that may have had effects from one that never began. Neighbouring calls run
 * concurrently, unless a tool must run alone; results are kept in the order of the calls.
 */

export type ActOutcome = { kind: 'executed' };

export const act = async (turn: Turn, signal: AbortSignal): Promise<ActOutcome> => {
  const calls = turn.step?.calls ?? [];
  await turn.checkpoint();
  for (const batch of batches(turn, calls)) {
    if (signal.aborted) break;
    const running = batch.map((entry) => execute(turn, entry, signal));
    for (const [index, entry] of batch.entries()) {
      const result = await running[index];
      if (signal.aborted || !result) return { kind: 'executed' };
      settle(turn, entry, result);
    }
  }
  return { kind: 'executed' };
};

/** Gives every call that has no result the interrupted one. */
export const interruptCalls = (turn: Turn, calls: readonly StepCall[]): void => {
  for (const entry of calls) {
    if (!entry.result) settle(turn, entry, interrupted(entry));
  }
};

const interrupted = ({ call }: StepCall): ToolResult => ({
  tool_name: call.name,
  status: 'error',
  data: null,
  message: INTERRUPTED,
});

const batches = (turn: Turn, calls: readonly StepCall[]): StepCall[][] => {
  const result: StepCall[][] = [];
  let open: StepCall[] | undefined;
  for (const entry of calls) {
    if (entry.result) continue;
    const alone = turn.agent.tools.get(entry.call.name)?.exclusive === true;
    if (!alone && open) open.push(entry);
    else result.push([entry]);
    open = alone ? undefined : result.at(-1);
  }
  return result;
};

const execute = async (turn: Turn, entry: StepCall, signal: AbortSignal): Promise<ToolResult> => {
  const startedAt = turn.clock.now();
  advanceCall(turn, entry, 'START');
  const tool = turn.agent.tools.get(entry.call.name);
  const outcome = await attempt(turn, entry, signal);
  const ended = { tool: tool?.descriptor.id ?? 'unknown', seconds: (turn.clock.now() - startedAt) / 1000 };
  if (outcome instanceof Error) {
    const errorClass = outcome instanceof ToolError ? outcome.kind : 'internal';
    turn.observe.tools.ended({ ...ended, status: 'failed', errorClass });
  } else turn.observe.tools.ended({ ...ended, status: 'succeeded' });
  return toToolResult(entry.call.name, outcome);
};

const attempt = async (turn: Turn, entry: StepCall, signal: AbortSignal): Promise<ToolOutput | Error> => {
  const { call } = entry;
  const tool = turn.agent.tools.get(call.name);
  if (!tool) return ToolError.unknownTool(call.name);
  if (entry.malformed)
    return new ToolError('invalid_arguments', `the arguments are not JSON (${entry.malformed})`);
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

const settle = (turn: Turn, entry: StepCall, result: ToolResult): void => {
  entry.result = result;
  advanceCall(turn, entry, result.status === 'success' ? 'SUCCEED' : 'FAIL');
  const message = produce(turn, {
    id: turn.ids.uuid(),
    role: 'tool',
    tool_call_id: entry.call.id,
    content: [{ type: 'text', text: result.message ?? JSON.stringify(result.data) }],
  });
  turn.stream.emit({
    event_type: 'tool_call_done',
    id: entry.call.id,
    message_id: message.id,
    result,
    outcome: result.status === 'success' ? 'succeeded' : 'failed',
  });
};
