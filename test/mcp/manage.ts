import type { Test } from 'tap';
import {
  createMcpManager,
  type McpManagerDeps,
  type ReportedChange,
  type ToolLedgerDeps,
  type ToolRecords,
} from '../../src/mcp/index.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import type { McpStatus } from '../../src/schema/mcp-status.ts';
import type { ToolResult } from '../../src/schema/run-event.ts';
import type { Json, ToolContext } from '../../src/tools/tool.ts';
import { callTool } from '../tools/call.ts';

/** The connections of a service without the service; entries are applied as by a publication. */

export const SERVER = new URL('stdio-server.mjs', import.meta.url).pathname;

/** An entry for the scripted server. */
export const stdio = (id: string, env: Record<string, string> = {}, more: object = {}) => ({
  id,
  transport: 'stdio',
  command: process.execPath,
  args: [SERVER],
  env,
  ...more,
});

export const http = (id: string, url: string, more: object = {}) => ({ id, transport: 'http', url, ...more });

/** Retries at once and without a limit. */
export const EAGER = { restart_policy: { enabled: true, delay_ms: 10, max_delay_ms: 10 } };

/** Tool records in memory. */
export const memoryRecords = (reported: ReportedChange[] = []): ToolLedgerDeps => {
  const all = new Map<string, ToolRecords>();
  return {
    read: (server) => all.get(server),
    async write(server, records, changes) {
      all.set(server, records);
      reported.push(...changes);
    },
    remove: (server) => void all.delete(server),
    servers: () => [...all.keys()],
  };
};

export const manage = (t: Test, deps: Partial<McpManagerDeps> = {}) => {
  const told: string[] = [];
  const calls: string[] = [];
  const changes: number[] = [];
  const note = (event: string, fields?: object): void => void told.push(`${event} ${JSON.stringify(fields)}`);
  const manager = createMcpManager({
    clock: { now: Date.now },
    log: { debug: note, warn: note },
    version: '1.2.3',
    refreshMs: 0,
    actors: { began: () => () => {} },
    scope: 'default',
    records: memoryRecords(),
    observe: { called: (server, outcome) => void calls.push(`${server} ${outcome}`), reconnected: () => {} },
    changed: () => void changes.push(changes.length),
    ...deps,
  });
  t.teardown(() => manager.close());
  const until = async (id: string, holds: (status: McpStatus) => boolean): Promise<McpStatus> => {
    for (;;) {
      const status = manager.status(id);
      if (holds(status)) return status;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    manager,
    told,
    calls,
    changes,
    apply: (...entries: object[]) => manager.apply(entries.map((entry) => McpServerSpec.parse(entry))),
    connect: (entry: object) => manager.connect(McpServerSpec.parse(entry)),
    until,
    /** Applies the entry and waits for its connection. */
    async start(entry: { id: string }): Promise<McpStatus> {
      manager.apply([McpServerSpec.parse(entry)]);
      return until(entry.id, ({ connected }) => connected);
    },
    tool: (server: string, name: string) =>
      manager
        .tools()
        .get(server)
        ?.find(({ descriptor }) => descriptor.metadata?.['mcp.tool'] === name),
    async call(
      server: string,
      name: string,
      args: Json = {},
      context: Partial<ToolContext> = {},
    ): Promise<ToolResult> {
      const tool = manager
        .tools()
        .get(server)
        ?.find(({ descriptor }) => descriptor.metadata?.['mcp.tool'] === name);
      if (!tool) throw new Error(`${server} has no tool ${name}`);
      return callTool(tool, args, context);
    },
  };
};
