import { z } from 'zod';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { chartAsSeen } from '../programs/machines.ts';
import { actorsOf, follow, listed, type Programs } from '../programs/programs.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { ActorFrame } from '../schema/live-actor.ts';
import { NotFound } from '../schema/outcome.ts';
import { ProgramActors, ProgramChart, ProgramList } from '../schema/program.ts';

/**
 * Other programs of XState that report to this service: what they are, what their machines look like, and what their
 * actors do. They belong to no scope, so whoever may ask as an admin sees all of them.
 */

export type ProgramsRoom = {
  programs: Programs;
  /** Where they report to; null: nowhere. */
  url: () => string | null;
};

const id = z.string().meta({ description: 'id of a program that reports' });

const StreamQuery = z.object({
  machine: z.string().optional().meta({ description: 'one machine of a program: `<program>/<name>`' }),
});

export const programRoutes = ({ programs, url }: ProgramsRoom) => {
  const known = (id: string) => {
    const program = programs.all.get(id);
    if (!program) throw new NotFound('program not found');
    return program;
  };
  return [
    route.get('/v1/system/programs', {
      id: 'listPrograms',
      summary: 'Other programs of XState that report to this service',
      description:
        'Programs of this machine, over a WebSocket of the public inspection protocol; off unless `inspection_addr` is set.',
      tag: 'system',
      scope: 'admin',
      responses: { 200: ProgramList },
      handle: () => ({ url: url(), items: listed(programs) }),
    }),
    route.get('/v1/system/programs/stream', {
      id: 'streamPrograms',
      summary: 'Live actors of other programs, then their beginnings, transitions and ends',
      description:
        'As the stream of the own actors, with ids `<program>:<session>` and machines `<program>/<name>`. A transition that no definition explains has an empty id.',
      tag: 'system',
      scope: 'admin',
      query: StreamQuery,
      responses: {
        200: eventStream(ActorFrame, 'an `actor` for each that lives, then what happens; it does not end'),
      },
      handle({ query: { machine } }) {
        const stream = createEventStream();
        stream.onClose(follow(programs, machine, stream));
        return stream;
      },
    }),
    route.get('/v1/system/programs/:program/actors', {
      id: 'listProgramActors',
      summary: 'The live actors of a program that reports',
      description: 'In the order in which it told of them, all at once: how many it may have is bounded.',
      tag: 'system',
      scope: 'admin',
      params: z.object({ program: id }),
      responses: { 200: ProgramActors, 404: ErrorBody },
      handle: ({ params }) => ({ items: actorsOf(programs, known(params.program)) }),
    }),
    route.get('/v1/system/programs/:program/machines/:machine', {
      id: 'getProgramMachine',
      summary: 'A machine of a program that reports, laid out',
      description:
        'Laid out by the service when its definition came, with the code that draws its own; without a chart it says why.',
      tag: 'system',
      scope: 'admin',
      params: z.object({
        program: id,
        machine: z.string().meta({ description: 'name of one of its machines' }),
      }),
      responses: { 200: ProgramChart, 404: ErrorBody },
      handle({ params }) {
        const machine = known(params.program).machines.byName.get(params.machine);
        if (!machine) throw new NotFound('machine not found');
        return chartAsSeen(machine);
      },
    }),
  ];
};
