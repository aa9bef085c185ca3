import type { Test } from 'tap';
import { z } from 'zod';
import type { SettingsInput } from '../../src/settings/index.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe, type TroupeOptions } from './troupe.ts';

/** A service with observed runs, and helpers that read their traces. */

export const messages = [{ role: 'user', content: 'Hello' }];

type Trace = NonNullable<SettingsInput['trace']>;

export const traced = (
  trace: Trace = { sampling_disable: true },
  more: SettingsInput = {},
): SettingsInput => ({
  observe_all_agents: true,
  AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_trace_routes: true },
  trace,
  ...more,
});

export const startTraced = (t: Test, trace?: Trace, options: TroupeOptions = {}): Promise<Troupe> =>
  startTroupe(t, { settings: traced(trace), ...options });

/** Executes a run to its end and returns its id. */
export const run = async ({ runToEnd }: Troupe, agentId: string, body: object = {}): Promise<string> =>
  String((await runToEnd({ agentId, messages, ...body }))[0]?.run_id);

export type Line = Record<string, unknown>;

export const readTrace = async ({ admin }: Pick<Troupe, 'admin'>, run_id: string, query = '') => {
  const { status, headers, body } = await admin('GET', `/v1/traces/${run_id}${query}`);
  const text = String(body.text ?? '');
  const lines: Line[] = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return {
    status,
    text,
    lines,
    types: lines.map(({ type }) => type),
    total: headers.get('x-trace-total-events'),
    next: headers.get('x-trace-next-offset'),
    contentType: headers.get('content-type'),
  };
};

export const listed = async ({ admin }: Pick<Troupe, 'admin'>, query = ''): Promise<Line[]> => {
  const { body } = await admin('GET', `/v1/traces${query}`);
  return z.array(z.record(z.string(), z.unknown())).parse(body.runs);
};

/** Executes this many runs, with fewer at a time than the service admits. */
export const runMany = async (troupe: Troupe, agentId: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(50, count - ids.length) }, () => run(troupe, agentId));
    ids.push(...(await Promise.all(some)));
  }
  return ids;
};
