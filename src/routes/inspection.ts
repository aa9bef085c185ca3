import { z } from 'zod';
import { describeAll } from '../diagrams/describe.ts';
import { MachineDescription } from '../diagrams/description.ts';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { type ActorFilter, inState, MACHINE_NAMES, problemOfState } from '../inspection/filter.ts';
import { ActorFrame, ActorList } from '../schema/live-actor.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, Limit } from '../schema/paging.ts';
import { ActorPosition, listActors } from './actor-list.ts';
import { BAD_CURSOR, decodeCursor, encodeCursor } from './cursor.ts';
import type { RouteDeps } from './route-deps.ts';

/** The API for visualizers: statecharts as data, live actors and their events. */

const id = z.string().min(1, 'must not be empty').optional();

const Filters = z.object({
  machine: z.enum(MACHINE_NAMES).optional().meta({ description: 'name of the statechart' }),
  thread: id.meta({ description: 'id of a thread: its actor and the actors that work for it' }),
  run: id.meta({ description: 'id of a run: its actor and the actors that work for it' }),
  state: z.string().optional().meta({
    description:
      'a state of the actor: its path or a part of the path (`running`, `retrying.pausing`, `pausing`)',
  }),
});
type Filters = z.output<typeof Filters>;

const checkState = ({ value: { state, machine }, issues }: z.core.ParsePayload<Filters>): void => {
  const message = state === undefined ? undefined : problemOfState(state, machine);
  if (message !== undefined) issues.push({ code: 'custom', input: state, path: ['state'], message });
};

const ListQuery = Filters.extend({ limit: Limit, cursor: Cursor }).check(checkState);
const StreamQuery = Filters.check(checkState);

const filterOf = ({ machine, thread, run, state }: Filters): ActorFilter => ({
  machine,
  thread,
  run,
  state: state === undefined ? undefined : inState(state),
});

/** The parameters that a cursor is bound to. */
const bindingOf = ({ machine, thread, run, state }: Filters) => ({ machine, thread, run, state });

const startOf = (query: z.output<typeof ListQuery>): ActorPosition => {
  if (query.cursor === undefined) return { live: 0 };
  const start = decodeCursor(query.cursor, {
    prefix: 'act_',
    kind: 'actor',
    filters: bindingOf(query),
    filtered: false,
    position: ActorPosition,
  });
  // A number of actors is not a stable position, because actors start and end.
  if ('offset' in start) throw new Invalid(BAD_CURSOR);
  return start.position;
};

export const inspectionRoutes = ({
  inspector,
  store,
  wholeScope,
}: Pick<RouteDeps, 'inspector' | 'store' | 'wholeScope'>) => {
  // The machines do not change while the process runs.
  let catalogue: MachineDescription[] | undefined;
  return [
    route.get('/v1/system/machines', {
      id: 'listMachines',
      summary: 'Every statechart of the service as data',
      description:
        'States, transitions and guards for visualizers. They do not change while the process runs.',
      tag: 'system',
      needs: 'observe',
      responses: { 200: z.array(MachineDescription) },
      handle() {
        catalogue ??= describeAll();
        return catalogue;
      },
    }),
    route.get('/v1/system/actors', {
      id: 'listActors',
      summary: 'Actors of the scope: live actors, then waiting runs without an actor',
      description: 'Filters: machine, thread, run and state. A cursor is only valid with the same filters.',
      tag: 'system',
      needs: 'observe',
      query: ListQuery,
      responses: { 200: ActorList },
      handle({ scope, query }) {
        const page = { from: startOf(query), limit: query.limit };
        const { items, total, next } = listActors(
          { store, wholeScope, inspector },
          scope,
          filterOf(query),
          page,
        );
        return {
          items,
          total,
          has_more: next !== undefined,
          next_cursor: next === undefined ? null : encodeCursor('act_', next, bindingOf(query)),
        };
      },
    }),
    route.get('/v1/system/actors/stream', {
      id: 'streamActors',
      summary: 'Stream the live actors of the scope, then their starts, transitions and ends',
      description: 'Starts with one frame per live actor and lasts until the client disconnects.',
      tag: 'system',
      needs: 'observe',
      query: StreamQuery,
      responses: {
        200: eventStream(ActorFrame, 'an `actor` for each that lives, then what happens; it does not end'),
      },
      handle({ scope, query }) {
        const stream = createEventStream();
        stream.onClose(inspector.follow(scope, filterOf(query), stream));
        return stream;
      },
    }),
  ];
};
