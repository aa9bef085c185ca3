import { z } from 'zod';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { LiveActor } from '../inspection/actor.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { describeAll } from '../statecharts/describe.ts';
import { MachineDescription } from '../statecharts/description.ts';
import type { Rooms } from './rooms.ts';

/** What visualisers read: the statecharts as data, the actors that live, and what happens to them. */

export const inspectionRoutes = ({ inspector }: Pick<Rooms, 'inspector'>) => {
  // The machines do not change while the process runs.
  let catalogue: MachineDescription[] | undefined;
  return [
    route.get('/v1/system/machines', {
      summary: 'Every statechart of the service as data',
      tag: 'system',
      scope: 'admin',
      responses: { 200: z.array(MachineDescription), 401: ErrorBody },
      handle() {
        catalogue ??= describeAll();
        return catalogue;
      },
    }),
    route.get('/v1/system/actors', {
      summary: 'Live actors of the scope',
      tag: 'system',
      scope: 'admin',
      responses: { 200: z.array(LiveActor), 401: ErrorBody },
      handle: ({ scope }) => inspector.list(scope),
    }),
    route.get('/v1/system/actors/stream', {
      summary: 'Live actors of the scope, then their beginnings, transitions and ends',
      tag: 'system',
      scope: 'admin',
      responses: { 200: 'text/event-stream of ActorFrame', 401: ErrorBody },
      handle({ scope }) {
        const stream = createEventStream();
        stream.onClose(inspector.follow(scope, stream));
        return stream;
      },
    }),
  ];
};
