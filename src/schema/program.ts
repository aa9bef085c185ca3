import { z } from 'zod';
import { ChartLevels } from './chart.ts';
import { LiveActor } from './live-actor.ts';

/** Other XState programs that report to this service, as shown to watchers. */

export const ProgramMachine = z
  .object({
    name: z.string().meta({ description: 'id in the program; with the suffix `~2` if the id is not unique' }),
    chart: z.enum(['drawing', 'drawn', 'none']).meta({
      description: 'missing if the machine has no states or has a problem',
    }),
    problem: z.string().nullable().meta({ description: 'reason why the chart is missing' }),
    states: z.int().meta({ description: 'number of states' }),
  })
  .meta({ id: 'ProgramMachine', description: 'A statechart of a reporting program.' });
export type ProgramMachine = z.infer<typeof ProgramMachine>;

export const Program = z
  .object({
    id: z.string(),
    name: z.string().meta({
      description: 'path of the URL that the program reports to, or the name of its first reported actor',
    }),
    connected: z.boolean().meta({ description: 'false: disconnected, and its actors have ended' }),
    since: z.int().meta({ description: 'time of the connection, in ms' }),
    actors: z.int().meta({ description: 'number of live actors' }),
    machines: z.array(ProgramMachine),
    refused: z.object({
      count: z.int().meta({ description: 'number of rejected messages' }),
      last: z.string().nullable().meta({ description: 'problem of the last rejected message' }),
    }),
  })
  .meta({ id: 'Program', description: 'A program that reports the events of its actors.' });
export type Program = z.infer<typeof Program>;

export const ProgramList = z
  .object({
    url: z.string().nullable().meta({
      description: 'URL for programs on this host; null: `inspection_addr` is not set',
    }),
    items: z.array(Program),
  })
  .meta({ id: 'ProgramList', description: 'Connected programs, then disconnected ones.' });
export type ProgramList = z.infer<typeof ProgramList>;

export const ProgramChart = ProgramMachine.extend({
  charts: ChartLevels.nullable().meta({ description: 'null until the layout is computed' }),
}).meta({ id: 'ProgramChart', description: 'The layout of a statechart of a reporting program.' });
export type ProgramChart = z.infer<typeof ProgramChart>;

export const ProgramActors = z
  .object({ items: z.array(LiveActor) })
  .meta({ id: 'ProgramActors', description: 'The live actors of a program.' });
