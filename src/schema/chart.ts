import { z } from 'zod';

/** A statechart with a place for everything in it, in pixels from the top left: who shows it only has to draw. */

const box = { x: z.number(), y: z.number(), width: z.number(), height: z.number() };

const ChartBox = z.object(box).meta({ id: 'ChartBox', description: 'A place in a chart.' });
export type ChartBox = z.infer<typeof ChartBox>;

const ChartRow = z
  .object({ text: z.string(), indented: z.boolean(), soft: z.boolean() })
  .meta({ id: 'ChartRow', description: 'A row of text.' });
export type ChartRow = z.infer<typeof ChartRow>;

const points = z.array(z.object({ x: z.number(), y: z.number() }));

const ChartState = z
  .object({
    ...box,
    path: z.string().meta({ description: "names from the outermost state inwards, joined by '.'" }),
    name: z.string(),
    tint: z.enum(['plain', 'created', 'running', 'waiting', 'done']).meta({
      description: 'the status that it stands for, its own or that of the state around it',
    }),
    open: z.boolean().meta({ description: 'states are drawn inside it' }),
    final: z.boolean(),
    hidden: z.array(z.string()).meta({ description: 'paths of the states that are folded away in it' }),
    rows: z.array(ChartRow),
    about: z.string().meta({ description: 'what it is for and what it does, in lines' }),
  })
  .meta({ id: 'ChartState', description: 'A state in a chart.' });
export type ChartState = z.infer<typeof ChartState>;

const ChartArrow = z
  .object({
    points,
    label: ChartBox,
    rows: z.array(ChartRow),
    kind: z.enum(['event', 'error', 'timer']).meta({
      description:
        'a failed service and a delay that ends are drawn in other strokes than what is asked for or hoped for',
    }),
    inward: z.boolean().meta({ description: 'it begins at its label' }),
    transitions: z.array(z.string()).meta({ description: 'ids of the transitions that it stands for' }),
    about: z.string().meta({ description: 'each of them in full, in lines' }),
  })
  .meta({ id: 'ChartArrow', description: 'An arrow in a chart.' });
export type ChartArrow = z.infer<typeof ChartArrow>;

const Chart = z
  .object({
    width: z.number(),
    height: z.number(),
    states: z.array(ChartState).meta({ description: 'outer states before the states inside them' }),
    arrows: z.array(ChartArrow),
    starts: z.array(z.object({ dot: ChartBox, points })).meta({
      description: 'where entering a state, or the machine, begins: a dot and the way from it',
    }),
    inside: z.record(z.string(), z.string()).meta({
      description:
        'transitions that no arrow stands for, by id: the state of the picture in which they happen',
    }),
  })
  .meta({ id: 'Chart', description: 'A statechart with a place for everything in it.' });
export type Chart = z.infer<typeof Chart>;

export const ChartLevels = z
  .object({ name: z.string(), description: z.string(), levels: z.array(Chart) })
  .meta({
    id: 'ChartLevels',
    description:
      'A machine at every depth at which it looks different, from the fewest states to all of them.',
  });
export type ChartLevels = z.infer<typeof ChartLevels>;
