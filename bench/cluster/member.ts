import type { Context } from '../benchmark.ts';
import { untilHealthy } from '../health.ts';
import { type Server, startTroupe, type TroupeOptions } from '../servers.ts';

export type MemberOptions = Omit<TroupeOptions, 'durability' | 'variables'> & {
  name?: string;
  /** Default: that of the service. */
  ttlMs?: number;
};

/** Starts a member of the cluster in a database. It listens before it has a role. */
export const startMember = (
  context: Context,
  url: string,
  { name = 'a', ttlMs, ...options }: MemberOptions = {},
): Promise<Server> =>
  startTroupe(context, {
    ...options,
    durability: 'power',
    variables: {
      SERVICE_DATABASE_URL: url,
      SERVICE_MEMBER_NAME: name,
      ...(ttlMs !== undefined && { SERVICE_LEASE_TTL_MS: String(ttlMs) }),
    },
  });

/** Starts the only member of a cluster, and waits until it is active. */
export const startAlone = async (
  context: Context,
  url: string,
  options: MemberOptions = {},
): Promise<Server> => {
  const member = await startMember(context, url, options);
  await untilActive(member);
  return member;
};

export const untilActive = ({ process, url }: Server): Promise<void> =>
  untilHealthy(process, url, '/health?role=active');
