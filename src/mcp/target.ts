import type { JsonObject } from '../schema/endpoint.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { headerProblem, problemIn, variableProblem } from '../schema/sendable.ts';
import { timerMs } from '../schema/timer.ts';
import type { Program } from './child.ts';

/** The address or command of a server, from its entry. */
export type McpTarget = { timeoutMs: number } & (
  | ({ kind: 'stdio'; config: JsonObject } & Program)
  | { kind: 'http'; url: string; headers: Readonly<Record<string, string>> }
);

export const resolveTarget = (spec: McpServerSpec): McpTarget => {
  const { transport, command = '', args, env, url = '', config } = spec;
  const timeoutMs = timerMs(Math.max(1, spec.timeout_secs) * 1000);
  if (transport === 'stdio') return { kind: 'stdio', timeoutMs, command: command.trim(), args, env, config };
  const headers = Object.entries(config.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  return { kind: 'http', timeoutMs, url: url.trim(), headers: Object.fromEntries(headers) };
};

/**
 * Returns values that cannot be sent, in an entry that was stored before such values were rejected. The error of the
 * platform would contain them.
 */
export const unsendableIn = (target: McpTarget): string | undefined => {
  const [place, problem] =
    target.kind === 'http'
      ? ['config.headers', problemIn(target.headers, headerProblem)]
      : ['env', problemIn(target.env, variableProblem)];
  return problem && `${place}${problem}`;
};
