import { z } from 'zod';
import { ChartLevels } from './chart.ts';
import { LiveActor } from './live-actor.ts';

/** Other programs of XState that report to this service, as those see them who watch. */

export const ProgramMachine = z
  .object({
    name: z
      .string()
      .meta({ description: 'its id in the program; `…~2` when that is of another one already' }),
    chart: z.enum(['drawing', 'drawn', 'none']).meta({
      description: 'none: it has no states, or there is a problem',
    }),
    problem: z.string().nullable().meta({ description: 'why it has no chart' }),
    states: z.int().meta({ description: 'how many it has' }),
  })
  .meta({ id: 'ProgramMachine', description: 'A machine of a program that reports.' });
export type ProgramMachine = z.infer<typeof ProgramMachine>;

export const Program = z
  .object({
    id: z.string(),
    name: z.string().meta({
      description: 'path of the address that it reports to, or the name of the first actor that it told of',
    }),
    connected: z.boolean().meta({ description: 'false: it has gone, and its actors have ended' }),
    since: z.int().meta({ description: 'when it came, in ms' }),
    actors: z.int().meta({ description: 'how many of its actors live' }),
    machines: z.array(ProgramMachine),
    refused: z.object({
      count: z.int().meta({ description: 'of its messages' }),
      last: z.string().nullable().meta({ description: 'what was wrong with the last one' }),
    }),
  })
  .meta({ id: 'Program', description: 'A program that reports what its actors do.' });
export type Program = z.infer<typeof Program>;

export const ProgramList = z
  .object({
    url: z.string().nullable().meta({
      description: 'where programs of this machine report to; null: nowhere, `inspection_addr` is not set',
    }),
    items: z.array(Program),
  })
  .meta({ id: 'ProgramList', description: 'Programs that report, then those that have gone.' });
export type ProgramList = z.infer<typeof ProgramList>;

export const ProgramChart = ProgramMachine.extend({
  charts: ChartLevels.nullable().meta({ description: 'null until it is drawn' }),
}).meta({ id: 'ProgramChart', description: 'A machine of a program that reports, laid out.' });
export type ProgramChart = z.infer<typeof ProgramChart>;

export const ProgramActors = z
  .object({ items: z.array(LiveActor) })
  .meta({ id: 'ProgramActors', description: 'The live actors of a program.' });
