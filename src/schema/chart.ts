import { z } from 'zod';

/** A statechart with positions in pixels from the top left, so that a viewer only has to draw it. */

const box = { x: z.number(), y: z.number(), width: z.number(), height: z.number() };

const ChartBox = z.object(box).meta({ id: 'ChartBox', description: 'A position in a chart.' });
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
    tint: z
      .enum(['plain', 'created', 'running', 'waiting', 'done', 'completed', 'failed', 'cancelled'])
      .meta({ description: 'status of the state or of its parent, or the outcome of a final state' }),
    open: z.boolean().meta({ description: 'whether child states are drawn inside' }),
    final: z.boolean(),
    hidden: z.array(z.string()).meta({ description: 'paths of the collapsed child states' }),
    rows: z.array(ChartRow),
    about: z.string().meta({ description: 'description and actions, in lines' }),
  })
  .meta({ id: 'ChartState', description: 'A state in a chart.' });
export type ChartState = z.infer<typeof ChartState>;

const ChartArrow = z
  .object({
    points,
    label: ChartBox,
    rows: z.array(ChartRow),
    kind: z.enum(['event', 'error', 'timer']).meta({
      description: '`event`: requested or expected; `error`: a failed service; `timer`: an elapsed delay',
    }),
    inward: z.boolean().meta({ description: 'whether the arrow starts at its label' }),
    transitions: z.array(z.string()).meta({ description: 'ids of the transitions of the arrow' }),
    names: z.array(z.string()).meta({
      description: 'a short name of each transition: its event, or the guard that selects it',
    }),
    about: z.string().meta({ description: 'the text of each transition, in lines' }),
  })
  .meta({ id: 'ChartArrow', description: 'An arrow in a chart.' });
export type ChartArrow = z.infer<typeof ChartArrow>;

const Chart = z
  .object({
    width: z.number(),
    height: z.number(),
    states: z.array(ChartState).meta({ description: 'parents before their child states' }),
    arrows: z.array(ChartArrow),
    starts: z.array(z.object({ dot: ChartBox, points })).meta({
      description: 'initial transitions: a dot and its path',
    }),
    inside: z.record(z.string(), z.string()).meta({
      description: 'transitions without an arrow, by id: the drawn state that contains them',
    }),
  })
  .meta({ id: 'Chart', description: 'A statechart with its layout.' });
export type Chart = z.infer<typeof Chart>;

export const ChartLevels = z
  .object({
    name: z.string(),
    description: z.string(),
    levels: z.array(Chart).meta({ description: 'from the most collapsed layout to the expanded one' }),
    compact: z.array(Chart).meta({
      description:
        'small layouts without texts on arrows: the outermost states, then also the states of work',
    }),
  })
  .meta({ id: 'ChartLevels', description: 'The layouts of a statechart.' });
export type ChartLevels = z.infer<typeof ChartLevels>;
