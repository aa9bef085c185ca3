import { createMcpManager } from '../../src/mcp/index.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import type { Json, Tool, ToolContext } from '../../src/tools/tool.ts';
import { memoryRecords } from '../mcp/manage.ts';

/**
 * A client for the conformance suite that wraps the connections of the service: it connects to the given URL, performs
 * the scenario, and disconnects.
 */

/** `context`: additional JSON data from the suite. */
export type Scenario = { name: string; url: string; context: string };

type Use = (
  call: (tool: string, args: Json) => Promise<unknown>,
  tools: readonly Tool[],
  context: string,
) => unknown;

const onlyConnects: Use = () => {};

const callsAll: Use = async (call, tools) => {
  for (const { descriptor } of tools) await call(String(descriptor.metadata?.['mcp.tool']), {});
};

/** Makes the calls that the suite names. */
const callsNamed: Use = async (call, _, context) => {
  const { toolCalls } = JSON.parse(context);
  for (const { name, arguments: args } of toolCalls) await call(name, args);
};

const SCENARIOS: Record<string, Use> = {
  initialize: onlyConnects,
  'json-schema-ref-no-deref': onlyConnects,
  'request-metadata': onlyConnects,
  'http-standard-headers': callsAll,
  'http-custom-headers': callsNamed,
  'http-invalid-tool-headers': (call) => call('valid_tool', { region: 'x' }),
  'sep-2322-client-request-state': callsAll,
  tools_call: (call) => call('add_numbers', { a: 5, b: 3 }),
  'sse-retry': (call) => call('test_reconnection', {}),
  'json-schema-2020-12-preservation': (call, tools) => {
    const schema = tools.find(({ descriptor }) => descriptor.id.endsWith('json_schema_2020_12_tool'));
    return call('json_schema_echo', { schema: schema?.descriptor.parameters ?? null });
  },
};

const nothing = (): void => {};

/** The properties of its run that a call needs. */
const context = {
  agent_id: 'agent',
  thread_id: 'thread',
  run_id: 'run',
  call_id: 'call',
  signal: new AbortController().signal,
  progress: nothing,
};

/** @throws the error of the connection or the call */
export const playScenario = async ({ name, url, context: told }: Scenario): Promise<void> => {
  const use = SCENARIOS[name];
  if (!use) throw new Error(`there is no scenario '${name}'`);
  const manager = createMcpManager({
    clock: { now: Date.now },
    log: { debug: nothing, warn: nothing },
    version: '0.0.0',
    refreshMs: 0,
    actors: { began: () => nothing },
    scope: 'default',
    records: memoryRecords(),
    observe: { called: nothing, reconnected: nothing },
    changed: nothing,
  });
  try {
    const spec = McpServerSpec.parse({ id: 'suite', transport: 'http', url });
    await manager.connect(spec);
    manager.apply([spec]);
    const tools = manager.tools().get('suite') ?? [];
    const call = (called: string, args: Json) => {
      const tool = tools.find(({ descriptor }) => descriptor.id === `mcp__suite__${called}`);
      if (!tool) throw new Error(`there is no tool '${called}'`);
      // Tools of MCP servers use only this part of a context.
      return Promise.resolve(tool.execute(args, context as unknown as ToolContext));
    };
    await use(call, tools, told);
  } finally {
    await manager.close();
  }
};
