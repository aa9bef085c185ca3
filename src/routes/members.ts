import { hostname } from 'node:os';
import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Members } from '../schema/members.ts';
import type { Membership } from '../schema/membership.ts';
import { Conflict, NotFound } from '../schema/outcome.ts';
import type { RouteDeps } from './route-deps.ts';

/** The processes of a deployment (cluster.md 1.3). */

export const memberRoutes = (deps: RouteDeps) => [
  listMembers(deps.membership?.members ?? describeAlone(deps)),
  drainMember(deps.membership),
];

export const listMembers = (members: () => Members) =>
  route.get('/v1/system/members', {
    id: 'listMembers',
    summary: 'The processes that share the database',
    description:
      'As the member that answers has read them within the last second, with those that left within the last hour. In embedded mode: this process.',
    tag: 'system',
    needs: 'admin',
    responses: { 200: Members },
    handle: members,
  });

const drainMember = (membership: Membership | undefined) =>
  route.post('/v1/system/members/:id/drain', {
    id: 'drainMember',
    summary: 'Asks a member to leave',
    description:
      'The member takes no more work, lets runs end until its shutdown timeout, and leaves; another one takes over.',
    tag: 'system',
    needs: 'admin',
    params: z.object({ id: z.string().meta({ description: 'id of a member' }) }),
    responses: { 202: 'empty', 404: ErrorBody, 409: ErrorBody },
    async handle({ params }) {
      if (!membership) throw new Conflict('this service has no other member that could take its work');
      if (!(await membership.drain(params.id))) throw new NotFound('member not found, or it has left');
      return reply(202);
    },
  });

/** Describes a process in embedded mode like the only member of a cluster. */
const describeAlone = ({ store, runtime, ids, clock, system }: RouteDeps): (() => Members) => {
  const id = ids.uuid();
  const joined_at = clock.now() - system.uptimeSeconds() * 1000;
  return () => {
    const { executing, waiting } = runtime.work();
    const { used_bytes, rows } = store.stats();
    return {
      mode: 'embedded',
      database: null,
      leader: id,
      members: [
        {
          id,
          name: hostname(),
          url: system.url,
          state: 'active',
          reason: null,
          self: true,
          reachable: null,
          version: system.version,
          joined_at,
          lease_ms: null,
          lineages: rows.threads ?? 0,
          executing,
          waiting,
          commons_behind: 0,
          copy_bytes: used_bytes,
        },
      ],
    };
  };
};
