import type { AgentStats } from '../schema/runtime-stats.ts';
import type { RunSummary, SystemInfo } from '../schema/system.ts';
import { type Connection, call, path } from './connection.ts';

/** The service itself. Needs the rights of an admin. */

type Options = { signal?: AbortSignal };

export type System = {
  info(options?: Options): Promise<SystemInfo>;
  /** How many runs are running, waiting and created. */
  runs(options?: Options): Promise<RunSummary>;
  /** Of every agent that did something. @throws Unavailable when none are kept */
  agents(options?: Options): Promise<AgentStats[]>;
  /** @param window such as `90s`, `15m`, `2h` or `7d`; default: everything @throws NotFound, Unavailable */
  agent(id: string, window?: string, options?: Options): Promise<AgentStats>;
};

export const systemOf = (connection: Connection): System => ({
  info: (options) => call(connection, 'GET', '/v1/system/info', options),
  runs: (options) => call(connection, 'GET', '/v1/runs/summary', options),
  agents: async (options) =>
    (await call<{ agents: AgentStats[] }>(connection, 'GET', '/v1/agents/runtime-stats', options)).agents,
  agent: (id, window, { signal } = {}) =>
    call(connection, 'GET', path`/v1/agents/${id}/runtime-stats`, { signal, query: { window } }),
});
