import { createHash } from 'node:crypto';
import { chartLevels } from '../diagrams/chart.ts';
import { layoutInThread } from '../diagrams/layout-thread.ts';
import type { ChartLevels } from '../schema/chart.ts';
import type { ProgramChart, ProgramMachine } from '../schema/program.ts';
import { type ForeignMachine, readDefinition, Undrawable } from './definition.ts';
import { LIMITS } from './limits.ts';

/**
 * The machines of one program, each parsed once and laid out when its definition arrives. A machine that cannot be
 * drawn has a problem instead of a chart, and its actors are listed nevertheless.
 */

export type Machine = {
  readonly name: string;
  readonly foreign: ForeignMachine | undefined;
  problem: string | null;
  isDrawing: boolean;
  charts: ChartLevels | undefined;
};

export type Machines = {
  readonly byName: Map<string, Machine>;
  /** By the digest of a definition. */
  readonly known: Map<string, Machine>;
};

export const createMachines = (): Machines => ({ byName: new Map(), known: new Map() });

/** Machine of actors without states, and of those beyond the limit. */
export const OTHERS = 'others';

const othersIn = ({ byName }: Machines): Machine => {
  const found = byName.get(OTHERS) ?? newMachine(OTHERS, undefined, null);
  byName.set(OTHERS, found);
  return found;
};

const newMachine = (name: string, foreign: ForeignMachine | undefined, problem: string | null): Machine => ({
  name,
  foreign,
  problem,
  isDrawing: false,
  charts: undefined,
});

const freeName = ({ byName }: Machines, name: string): string => {
  let free = name;
  for (let count = 2; byName.has(free) || free === OTHERS; count += 1) free = `${name}~${count}`;
  return free;
};

/** Returns undefined for a definition without states. */
const read = (machines: Machines, definition: string, otherwise: string): Machine | undefined => {
  try {
    const foreign = readDefinition(definition, otherwise);
    if (!foreign) return undefined;
    const name = freeName(machines, foreign.description.name);
    return newMachine(name, { ...foreign, description: { ...foreign.description, name } }, null);
  } catch (error) {
    if (error instanceof Undrawable)
      return newMachine(freeName(machines, otherwise), undefined, error.message);
    throw error;
  }
};

/** The machine of an actor; `isNew` for a definition that was not received before. */
export const resolveMachine = (
  machines: Machines,
  name: string,
  definition: string | null | undefined,
): { machine: Machine; isNew: boolean } => {
  if (definition === null || definition === undefined) return { machine: othersIn(machines), isNew: false };
  const digest = createHash('sha256').update(definition).digest('base64');
  const known = machines.known.get(digest);
  if (known) return { machine: known, isNew: false };
  const isFull = machines.known.size >= LIMITS.machines;
  const found = isFull ? undefined : read(machines, definition, name);
  if (!found) {
    const others = othersIn(machines);
    if (isFull && !isStateless(definition)) {
      others.problem = `a program may have ${LIMITS.machines} machines here, and this one has more`;
    }
    return { machine: others, isNew: false };
  }
  machines.known.set(digest, found);
  machines.byName.set(found.name, found);
  return { machine: found, isNew: true };
};

/** For promises and callbacks, the client sends only their names. */
const isStateless = (definition: string): boolean => !definition.includes('"states"');

/** Layouts of all programs run one at a time, so that they use at most one processor. */
let last: Promise<void> = Promise.resolve();

export const draw = (machine: Machine, isWanted: () => boolean): Promise<void> => {
  const { foreign } = machine;
  if (!foreign) return Promise.resolve();
  machine.isDrawing = true;
  last = last.then(async () => {
    try {
      if (!isWanted()) throw new Error('its program has disconnected');
      machine.charts = await layoutInThread(
        (engine) => chartLevels(foreign.description, engine),
        LIMITS.layoutMs,
      );
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      machine.problem = `it cannot be laid out: ${why.slice(0, LIMITS.name)}`;
    }
    machine.isDrawing = false;
  });
  return last;
};

export const machineAsSeen = ({ name, foreign, problem, isDrawing, charts }: Machine): ProgramMachine => ({
  name,
  chart: isDrawing ? 'drawing' : charts ? 'drawn' : 'none',
  problem,
  states: foreign?.description.states.length ?? 0,
});

export const chartAsSeen = (machine: Machine): ProgramChart => ({
  ...machineAsSeen(machine),
  charts: machine.charts ?? null,
});
