import { z } from 'zod';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { type ActorFilter, inState, MACHINE_NAMES, problemOfState } from '../inspection/filter.ts';
import { ActorFrame, ActorList } from '../schema/live-actor.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, Limit } from '../schema/paging.ts';
import { describeAll } from '../statecharts/describe.ts';
import { MachineDescription } from '../statecharts/description.ts';
import { ActorPosition, listActors } from './actor-list.ts';
import { BAD_CURSOR, decodeCursor, encodeCursor } from './cursor.ts';
import type { Rooms } from './rooms.ts';

/** What visualisers read: the statecharts as data, the actors that live, and what happens to them. */

const id = z.string().min(1, 'must not be empty').optional();

const Filters = z.object({
  machine: z.enum(MACHINE_NAMES).optional().meta({ description: 'name of the statechart' }),
  thread: id.meta({ description: 'id of a thread: its actor, and all that work for it' }),
  run: id.meta({ description: 'id of a run: its actor, and all that work for it' }),
  state: z.string().optional().meta({
    description:
      'a state that it is in: its path, or a part of that (`running`, `retrying.pausing`, `pausing`)',
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

/** What a cursor is bound to. */
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
  // Actors come and go: a number of them is no place.
  if ('offset' in start) throw new Invalid(BAD_CURSOR);
  return start.position;
};

export const inspectionRoutes = ({ inspector, store }: Pick<Rooms, 'inspector' | 'store'>) => {
  // The machines do not change while the process runs.
  let catalogue: MachineDescription[] | undefined;
  return [
    route.get('/v1/system/machines', {
      id: 'listMachines',
      summary: 'Every statechart of the service as data',
      description:
        'States, transitions and guards of each, as a visualiser draws them. They do not change while the process runs.',
      tag: 'system',
      scope: 'admin',
      responses: { 200: z.array(MachineDescription) },
      handle() {
        catalogue ??= describeAll();
        return catalogue;
      },
    }),
    route.get('/v1/system/actors', {
      id: 'listActors',
      summary: 'Actors of the scope: those that live, then the runs that wait in the store and have none',
      description:
        'Narrowed by machine, thread, run or state. A cursor belongs to the filters that it was given with.',
      tag: 'system',
      scope: 'admin',
      query: ListQuery,
      responses: { 200: ActorList },
      handle({ scope, query }) {
        const page = { from: startOf(query), limit: query.limit };
        const { items, total, next } = listActors({ store, inspector }, scope, filterOf(query), page);
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
      summary: 'Live actors of the scope, then their beginnings, transitions and ends',
      description:
        'First one frame for each actor that lives, then what happens, for as long as the client stays.',
      tag: 'system',
      scope: 'admin',
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
