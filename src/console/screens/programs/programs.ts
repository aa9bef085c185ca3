import { flag, list, nullable, number, object, text } from '../../data/guard.ts';
import { type Resource, useWhile } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import type { Say } from '../../i18n/locale.ts';
import { Charts } from '../../live-charts/chart-guard.ts';

/** Other programs that report to the service. */

const machine = { name: text, chart: text, problem: nullable(text), states: number };

const Program = object({
  id: text,
  name: text,
  connected: flag,
  actors: number,
  machines: list(object(machine)),
  refused: object({ count: number, last: nullable(text) }),
});
export type Program = ReturnType<typeof Program>;

const ProgramList = object({ url: nullable(text), items: list(Program) });

/** Programs connect and disconnect at any time. */
const EVERY_MS = 2000;

export const programList: Resource<ReturnType<typeof ProgramList>> = {
  path: '/v1/system/programs',
  guard: ProgramList,
  every: EVERY_MS,
};

const ProgramChart = object({ ...machine, charts: nullable(Charts) });
type ProgramChart = ReturnType<typeof ProgramChart>;

const programChart = (program: string, name: string): Resource<ProgramChart> => ({
  path: pathOf`/v1/system/programs/${program}/machines/${name}`,
  guard: ProgramChart,
});

/** Polling interval while a chart is being laid out. */
const DRAWING_MS = 500;

/** A machine of another program. It is polled until its chart is laid out. */
export const useProgramChart = (program: string, name: string) =>
  useWhile(programChart(program, name), ({ chart }) => chart === 'drawing', DRAWING_MS);

export const whyNoChart = (
  t: Say<'drawing' | 'stateless' | 'undrawn'>,
  { chart, problem }: Pick<ProgramChart, 'chart' | 'problem'>,
): string => {
  if (chart === 'drawing') return t('drawing');
  return problem === null ? t('stateless') : t('undrawn', { why: problem });
};

const ProgramActors = object({ items: list(object({ id: text, machine: text, parent: nullable(text) })) });

export const programActors = (program: string): Resource<ReturnType<typeof ProgramActors>> => ({
  path: pathOf`/v1/system/programs/${program}/actors`,
  guard: ProgramActors,
  every: EVERY_MS,
});

/** The address of a program's machine, from `<program>/<name>` as in frames. */
export const placeOf = (key: string): string => {
  const slash = key.indexOf('/');
  return pathOf`/statecharts/programs/${key.slice(0, slash)}/${key.slice(slash + 1)}`;
};

/** Example code that reports to this service from another program. */
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
