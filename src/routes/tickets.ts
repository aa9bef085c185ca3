import { examples, isEventStream } from '../http/described.ts';
import { createPaths } from '../http/paths.ts';
import { type Route, reply, route } from '../http/route.ts';
import { groupByPath, namedParams } from '../http/router.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Invalid } from '../schema/outcome.ts';
import type { Principal } from '../schema/principal.ts';
import { NewStreamTicket, StreamTicket } from '../schema/stream-ticket.ts';
import type { RouteDeps } from './route-deps.ts';

/** Tickets for `EventSource` (identity.md 2.7). */

/** @param routes all routes, of which those that send event streams have tickets */
export const ticketRoutes = (
  { identity: { tickets } }: Pick<RouteDeps, 'identity'>,
  routes: readonly Route[],
) => {
  const streams = createPaths(groupByPath(routes.filter(isEventStream)));

  /** @throws Invalid, and what the route itself would throw for the principal */
  const check = (principal: Principal, path: string): void => {
    const found = streams.find(path, 'GET');
    const endpoint = found?.entry.endpoints.get('GET');
    if (!found || !endpoint) throw new Invalid('path must be that of an event stream, without a query');
    const params = namedParams(endpoint, found.values);
    endpoint.door.check(principal, params);
    endpoint.checkReading?.({ principal, params });
  };

  return [
    route.post('/v1/tickets', {
      id: 'createTicket',
      summary: 'Create a ticket for an event stream',
      description:
        '`EventSource` sends no header: it opens the stream with `?ticket=` within a minute, once. A stream that breaks is continued by `cursor` with another ticket.',
      tag: 'identity',
      needs: 'principal',
      body: NewStreamTicket.meta(examples({ path: '/v1/threads/t1/events/stream' })),
      responses: { 201: StreamTicket, 404: ErrorBody },
      handle({ principal, body: { path } }) {
        check(principal, path);
        return reply(201, tickets.create(principal, path), { 'cache-control': 'no-store' });
      },
    }),
  ];
};
