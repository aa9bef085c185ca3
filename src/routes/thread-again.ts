import { z } from 'zod';
import { type Reply, type RouteRequest, reply } from '../http/route.ts';
import type { JsonObject } from '../schema/json.ts';
import { NotFound } from '../schema/outcome.ts';
import type { Thread } from '../schema/thread.ts';
import type { RouteDeps } from './route-deps.ts';

/** The response of a request that creates a thread, for its repeats (runtime.md 0.8). */

export const respondWithThread = (thread: Thread): Reply => reply(201, thread);

const Created = z.object({ scope: z.string(), id: z.string() });

/** Returns what is stored of a thread whose record is too long. */
export const createdIn =
  (scope: string) =>
  ({ id }: Thread): JsonObject => ({ scope, id });

/** Responds with the thread as it is now. */
export const createThreadAgain =
  ({ store, access }: Pick<RouteDeps, 'store' | 'access'>) =>
  ({ principal }: Pick<RouteRequest<unknown, unknown, unknown>, 'principal'>, created: JsonObject): Reply => {
    const place = Created.parse(created);
    const record = access.sees(principal, place) ? store.threads.get(place.scope, place.id) : undefined;
    if (!record) throw new NotFound(`thread not found: ${place.id}`);
    return respondWithThread(record.thread);
  };
