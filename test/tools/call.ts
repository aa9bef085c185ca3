import type { ToolResult } from '../../src/schema/run-event.ts';
import { type Json, type Tool, type ToolContext, toToolResult } from '../../src/tools/tool.ts';

/** A context with a fixed clock, one second past ten, that discards reports. */
export const quietContext = (overrides: Partial<ToolContext> = {}): ToolContext => ({
  scope: 'test',
  run_id: 'r1',
  thread_id: 't1',
  call_id: 'c1',
  agent_id: 'a1',
  signal: new AbortController().signal,
  now: () => 10_999,
  progress: () => {},
  stream: () => {},
  relay: () => {},
  keep: async () => {},
  isLetGo: () => false,
  askModel: () => Promise.reject(new Error('there is no model')),
  state: { get: () => undefined },
  ...overrides,
});

/** The result of a call, failed or not, as a run would report it. The tool must not suspend itself. */
export const callTool = async (
  tool: Tool,
  args: Json,
  overrides: Partial<ToolContext> = {},
): Promise<ToolResult> => {
  const { id } = tool.descriptor;
  const outcome = await tool
    .execute(args, quietContext(overrides))
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if ('suspend' in outcome) throw new Error(`${id} waits for a decision`);
  return toToolResult(id, outcome);
};
