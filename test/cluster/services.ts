import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { z } from 'zod';
import { type Client, createClient } from '../crash/client.ts';
import { ADMIN, createProcess, type Service, type ServiceProcess } from '../crash/process.ts';

/** Services that are members of one cluster, each in a separate process behind its own address. */

export type Member = ServiceProcess & { name: string; client: Client };

export const TTL_MS = 2000;

type Options = { url: string; gate?: string; env?: Record<string, string> };

/** None of them runs before `start`. */
export const createMembers = async (
  t: Test,
  names: readonly string[],
  { url, gate, env }: Options,
): Promise<Member[]> =>
  Promise.all(
    names.map(async (name) => {
      const service = await createProcess(t, {
        ...(gate !== undefined && { gate }),
        env: {
          SERVICE_DATABASE_URL: url,
          SERVICE_LEASE_TTL_MS: String(TTL_MS),
          SERVICE_MEMBER_NAME: name,
          SERVICE_STORAGE_DIR: '',
          ...env,
        },
      });
      return { ...service, name, client: createClient(service.url) };
    }),
  );

const Health = z.object({ components: z.object({ member: z.string(), database: z.string() }) });

export const healthOf = async (
  { url }: Service,
  query = '',
): Promise<{ status: number; member: string; database: string }> => {
  const response = await fetch(`${url}/health${query}`);
  const { components } = Health.parse(await response.json());
  return { status: response.status, ...components };
};

/** Far longer than a takeover needs on a busy machine. */
const PATIENCE_MS = 120_000;

/** Repeats an attempt until it returns something. Rejects with `what` after a long time. */
export const eventually = async <T>(what: string, attempt: () => Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await attempt().catch(() => undefined);
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`this did not happen: ${what}`);
    await pause(50);
  }
};

export const isActive = async (member: Service): Promise<boolean> =>
  (await healthOf(member, '?role=active').catch(() => undefined))?.status === 200;

/** Resolves when requests have an effect: a standby is healthy while the lease of a killed member lasts. */
export const serves = ({ url }: Service): Promise<true> =>
  eventually('a member serves requests', async () => {
    const { status } = await fetch(`${url}/v1/threads?limit=1`, { headers: ADMIN });
    return status === 200 || undefined;
  });

export const becomes = (member: Member, state: string): Promise<true> =>
  eventually(`${member.name} is ${state}`, async () => {
    const health = await healthOf(member);
    return health.member === state && health.status === 200 ? true : undefined;
  });
