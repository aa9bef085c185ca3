import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { type ClusterHealth, DatabaseHealth, MemberHealth, type Membership } from '../schema/membership.ts';
import { timerMs } from '../schema/timer.ts';

/** Routes for load balancers and supervisors (runtime.md 15). They are served first, so they import no other routes. */

const Health = z
  .object({
    status: z.enum(['healthy', 'unhealthy']),
    components: z.object({
      store: z.enum(['ok', 'error', 'timeout']),
      runtime: z.enum(['ok', 'starting']),
      database: DatabaseHealth,
      member: MemberHealth,
    }),
  })
  .meta({ id: 'Health', description: 'Whether the service accepts requests.' });

type HealthDeps = {
  /** Rejects if the store does not accept a write. */
  check(): Promise<void>;
  /** False while interrupted runs are being read. */
  isReady(): boolean;
  /** Absent in embedded mode. */
  membership: Membership | undefined;
  timeoutMs: number;
};

export const healthRoutes = ({ check, isReady, membership, timeoutMs }: HealthDeps) => [
  route.get('/health', {
    id: 'getHealth',
    summary: 'Readiness: the store responds and recovery has read all interrupted runs',
    description:
      'For load balancers: 503 while the store does not respond, while interrupted runs of an earlier process are still being read, or while a member of a cluster can neither serve nor forward.',
    tag: 'health',
    needs: 'nothing',
    query: z.object({
      role: z
        .enum(['active'])
        .optional()
        .meta({ description: '`active`: a member that only forwards is unhealthy' }),
    }),
    responses: { 200: Health, 400: ErrorBody, 503: Health },
    async handle({ query: { role } }) {
      const store = await probe(check, timeoutMs);
      const runtime = isReady() ? 'ok' : 'starting';
      const components = { store, runtime, ...(membership?.health() ?? EMBEDDED) };
      const isHealthy = store === 'ok' && runtime === 'ok' && (membership?.canServe(role) ?? true);
      return isHealthy ? { status: 'healthy', components } : reply(503, { status: 'unhealthy', components });
    },
  }),
  route.get('/health/live', {
    id: 'getLiveness',
    summary: 'Liveness: the process responds',
    description: 'For supervisors: 200 while the process responds, regardless of the store.',
    tag: 'health',
    needs: 'nothing',
    responses: { 200: 'empty' },
    handle: () => reply(200),
  }),
];

const EMBEDDED: ClusterHealth = { database: 'none', member: 'none' };

const probe = async (check: () => Promise<void>, timeoutMs: number): Promise<'ok' | 'error' | 'timeout'> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, timerMs(timeoutMs), 'timeout');
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      () => 'ok' as const,
      () => 'error' as const,
    );
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
