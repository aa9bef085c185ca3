import type { Members } from '../schema/members.ts';
import type { AgentStats } from '../schema/runtime-stats.ts';
import type { RunSummary, SystemInfo } from '../schema/system.ts';
import { type Connection, call, path } from './connection.ts';

type Options = { signal?: AbortSignal };

/**
 * Information about the service: `client.system`. Requires admin rights.
 *
 * @example
 * ```ts
 * const { version, uptime_seconds } = await client.system.info();
 * const { running, waiting } = await client.system.runs();
 * console.log(`Troupe ${version}, up for ${uptime_seconds} s: ${running} runs execute, ${waiting} wait`);
 * ```
 */
export type System = {
  /** Returns the version of the service and its enabled parts. */
  info(options?: Options): Promise<SystemInfo>;
  /** Returns the numbers of running, waiting and created runs. */
  runs(options?: Options): Promise<RunSummary>;
  /** Returns the processes that share the database; in embedded mode the only one. */
  members(options?: Options): Promise<Members>;
  /** Asks a member to leave once its runs have ended. @throws NotFound, Conflict in embedded mode */
  drain(id: string, options?: Options): Promise<void>;
  /** Returns the statistics of every active agent. @throws Unavailable if statistics are disabled */
  agents(options?: Options): Promise<AgentStats[]>;
  /**
   * Returns the statistics of an agent.
   *
   * @param window such as `90s`, `15m`, `2h` or `7d`; default: everything
   * @throws NotFound, Unavailable
   */
  agent(id: string, window?: string, options?: Options): Promise<AgentStats>;
};

export const createSystem = (connection: Connection): System => ({
  info: (options) => call(connection, 'GET', '/v1/system/info', options),
  runs: (options) => call(connection, 'GET', '/v1/runs/summary', options),
  members: (options) => call(connection, 'GET', '/v1/system/members', options),
  drain: (id, options) => call(connection, 'POST', path`/v1/system/members/${id}/drain`, options),
  agents: async (options) =>
    (await call<{ agents: AgentStats[] }>(connection, 'GET', '/v1/agents/runtime-stats', options)).agents,
  agent: (id, window, { signal } = {}) =>
    call(connection, 'GET', path`/v1/agents/${id}/runtime-stats`, { signal, query: { window } }),
});
