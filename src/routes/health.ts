import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { timerMs } from '../schema/timer.ts';
import type { Store } from '../store/index.ts';
import type { RouteDeps } from './route-deps.ts';

/** Routes for load balancers and supervisors (runtime.md 15). They are served first, so they import no other routes. */

const Health = z
  .object({
    status: z.enum(['healthy', 'unhealthy']),
    components: z.object({ store: z.enum(['ok', 'error', 'timeout']), runtime: z.enum(['ok', 'starting']) }),
  })
  .meta({ id: 'Health', description: 'Whether the service accepts requests.' });

export const healthRoutes = ({
  store,
  runtime,
  settings,
}: Pick<RouteDeps, 'store' | 'runtime' | 'settings'>) => [
  route.get('/health', {
    id: 'getHealth',
    summary: 'Readiness: the store responds and recovery has read all interrupted runs',
    description:
      'For load balancers: 503 while the store does not respond, or while interrupted runs of an earlier process are still being read.',
    tag: 'health',
    needs: 'nothing',
    responses: { 200: Health, 503: Health },
    async handle() {
      const state = await probe(store, settings.health_store_timeout_ms);
      const components = { store: state, runtime: runtime.isReady() ? 'ok' : 'starting' };
      return state === 'ok' && components.runtime === 'ok'
        ? { status: 'healthy', components }
        : reply(503, { status: 'unhealthy', components });
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

const probe = async (store: Store, timeoutMs: number): Promise<'ok' | 'error' | 'timeout'> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, timerMs(timeoutMs), 'timeout');
  });
  const answer = Promise.resolve()
    .then(() => store.check())
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
