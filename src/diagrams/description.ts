import { z } from 'zod';

/**
 * A statechart as plain data: for pictures, for GET /v1/system/machines, and for consoles that show running actors.
 * States are in document order, transitions in the order in which the machine tries them, so the same machine always
 * has the same description.
 */

const text = z.string().meta({ description: 'empty if the definition has none' });

const StateType = z.enum(['atomic', 'compound', 'parallel', 'final', 'history']);

export const StateDescription = z
  .object({
    path: z.string().meta({ description: "names from the outermost state inwards, joined by '.'" }),
    parent: z.string().nullable().meta({ description: 'path of the state around it; null: the machine' }),
    type: StateType,
    description: text,
    tags: z.array(z.string()).meta({ description: 'its own; the tags of the states around it hold as well' }),
    initial: z.string().nullable().meta({ description: 'path of the child entered first' }),
    invokes: z.array(z.object({ id: z.string(), src: z.string() })),
    entry: z.array(z.string()).meta({ description: 'names of the actions run on the way in' }),
    exit: z.array(z.string()).meta({ description: 'names of the actions run on the way out' }),
  })
  .meta({ id: 'StateDescription', description: 'A state of it.' });
export type StateDescription = z.infer<typeof StateDescription>;

export const TransitionDescription = z
  .object({
    id: z.string().meta({ description: 'unique in the machine and stable while its text is' }),
    from: z.string().nullable().meta({ description: 'null: the whole machine, that is, every state' }),
    to: z.string().nullable().meta({ description: 'null: internal, no state is left' }),
    event: z.string().meta({ description: 'EVENT, done.<src>, error.<src>, done, after <delay> or always' }),
    guard: z.string().nullable().meta({ description: 'its name, or the short text of an unnamed one' }),
    actions: z.array(z.string()),
    description: text,
  })
  .meta({ id: 'TransitionDescription', description: 'A transition between states.' });
export type TransitionDescription = z.infer<typeof TransitionDescription>;

export const MachineDescription = z
  .object({
    name: z.string().meta({ description: 'its name in the catalog' }),
    id: z.string(),
    description: text,
    initial: z.string().nullable().meta({ description: 'path of the state entered first; null: parallel' }),
    states: z.array(StateDescription),
    transitions: z.array(TransitionDescription),
  })
  .meta({ id: 'MachineDescription', description: 'A statechart as data.' });
export type MachineDescription = z.infer<typeof MachineDescription>;
