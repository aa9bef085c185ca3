import { describeAll, describeMachine } from '../../src/diagrams/describe.ts';
import { pictureOf } from '../../src/diagrams/diagram.ts';
import { foldedIn } from '../../src/diagrams/fold.ts';
import './kept-layouts.ts';
import { lampMachine } from './lamp.ts';

/** Every machine of the catalog and the lamp: unfolded, folded by size, and folded completely. */
export const pictures = [...describeAll(), describeMachine('lamp', lampMachine)].flatMap((machine) =>
  (['nothing', 'large', { depth: 1 }] as const).map((fold) => ({
    title: `${machine.name} (${typeof fold === 'string' ? `fold ${fold}` : 'fold all'})`,
    picture: pictureOf(machine, foldedIn(machine, fold)),
  })),
);
