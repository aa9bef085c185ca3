import { z } from 'zod';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { chartAsSeen } from '../programs/machines.ts';
import { follow, listActors, listed, type Programs } from '../programs/programs.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { ActorFrame } from '../schema/live-actor.ts';
import { NotFound } from '../schema/outcome.ts';
import { ProgramActors, ProgramChart, ProgramList } from '../schema/program.ts';

/**
 * External XState programs that report to this service: their identity, machines and actor events. They have no scope,
 * so every admin sees all of them.
 */

export type ProgramsDeps = {
  programs: Programs;
  /** Returns the address for reports, or null if reporting is disabled. */
  url: () => string | null;
};

const id = z.string().meta({ description: 'id of a program that reports' });

const StreamQuery = z.object({
  machine: z.string().optional().meta({ description: 'one machine of a program: `<program>/<name>`' }),
});

export const programRoutes = ({ programs, url }: ProgramsDeps) => {
  const known = (id: string) => {
    const program = programs.all.get(id);
    if (!program) throw new NotFound('program not found');
    return program;
  };
  return [
    route.get('/v1/system/programs', {
      id: 'listPrograms',
      summary: 'XState programs that report to this service',
      description:
        'Programs on this host, over a WebSocket with the public inspection protocol; off unless `inspection_addr` is set.',
      tag: 'system',
      needs: 'observe',
      responses: { 200: ProgramList },
      handle: () => ({ url: url(), items: listed(programs) }),
    }),
    route.get('/v1/system/programs/stream', {
      id: 'streamPrograms',
      summary: 'Stream the live actors of other programs, then their starts, transitions and ends',
      description:
        'Like the stream of the actors of the service, with ids `<program>:<session>` and machines `<program>/<name>`. A transition without a definition has an empty id.',
      tag: 'system',
      needs: 'observe',
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
      description: 'In the order of their registration, in one page; their number is bounded.',
      tag: 'system',
      needs: 'observe',
      params: z.object({ program: id }),
      responses: { 200: ProgramActors, 404: ErrorBody },
      handle: ({ params }) => ({ items: listActors(programs, known(params.program)) }),
    }),
    route.get('/v1/system/programs/:program/machines/:machine', {
      id: 'getProgramMachine',
      summary: 'Layout of a statechart of a reporting program',
      description: 'Computed when the definition arrived; without a chart the response contains the reason.',
      tag: 'system',
      needs: 'observe',
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
