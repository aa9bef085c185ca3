import { describeAll, describeMachine } from '../../src/statecharts/describe.ts';
import { pictureOf } from '../../src/statecharts/diagram.ts';
import { foldedIn } from '../../src/statecharts/fold.ts';
import './kept-layouts.ts';
import { lampMachine } from './lamp.ts';

/** Every machine of the catalogue and the lamp: whole, folded as their size asks for, and folded as far as it goes. */
export const pictures = [...describeAll(), describeMachine('lamp', lampMachine)].flatMap((machine) =>
  (['nothing', 'large', { depth: 1 }] as const).map((fold) => ({
    title: `${machine.name} (${typeof fold === 'string' ? `fold ${fold}` : 'fold all'})`,
    picture: pictureOf(machine, foldedIn(machine, fold)),
  })),
);
