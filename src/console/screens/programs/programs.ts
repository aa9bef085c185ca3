import { flag, type Guarded, list, nullable, number, object, text } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { Charts } from '../../statechart/chart-guard.ts';

/** Other programs that report to the service, as it tells of them. */

const machine = { name: text, chart: text, problem: nullable(text), states: number };

const Program = object({
  id: text,
  name: text,
  connected: flag,
  actors: number,
  machines: list(object(machine)),
  refused: object({ count: number, last: nullable(text) }),
});
export type Program = Guarded<typeof Program>;

const ProgramList = object({ url: nullable(text), items: list(Program) });

/** They come and go while somebody looks. */
const EVERY_MS = 2000;

export const programList: Resource<Guarded<typeof ProgramList>> = {
  path: '/v1/system/programs',
  guard: ProgramList,
  every: EVERY_MS,
};

const ProgramChart = object({ ...machine, charts: nullable(Charts) });
export type ProgramChart = Guarded<typeof ProgramChart>;

export const programChart = (program: string, name: string, every?: number): Resource<ProgramChart> => ({
  path: pathOf`/v1/system/programs/${program}/machines/${name}`,
  guard: ProgramChart,
  every,
});

/** A chart that is being laid out is asked for again so soon. */
export const DRAWING_MS = 500;

const ProgramActors = object({ items: list(object({ id: text, machine: text, parent: nullable(text) })) });

export const programActors = (program: string): Resource<Guarded<typeof ProgramActors>> => ({
  path: pathOf`/v1/system/programs/${program}/actors`,
  guard: ProgramActors,
  every: EVERY_MS,
});

/** Where a machine of a program is looked at: `<program>/<name>`, as frames call it. */
export const placeOf = (key: string): string => {
  const slash = key.indexOf('/');
  return pathOf`/statecharts/programs/${key.slice(0, slash)}/${key.slice(slash + 1)}`;
};

/** What a program of somebody else has in it to report here. */
export const exampleFor = (
  url: string,
): string => `import { createWebSocketInspector } from '@statelyai/inspect';
import { createActor } from 'xstate';
import { machine } from './machine.js';

const { inspect } = createWebSocketInspector({
  url: '${url}/my-program',
});

createActor(machine, { inspect }).start();
`;
