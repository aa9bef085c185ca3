import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, createMachine } from 'xstate';
import { describeMachine, transitionIds } from '../statecharts/describe.ts';
import { MachineDescription, type TransitionDescription } from '../statecharts/description.ts';
import { pathOf } from '../statecharts/naming.ts';
import { LIMITS } from './limits.ts';

/**
 * The machine of another program, read from its definition. XState itself reads it, so that targets, delays and the
 * events of services mean what they mean there; functions are names in a definition, and nothing of it is ever run.
 */
export type ForeignMachine = {
  readonly description: MachineDescription;
  /** By path; the machine itself at the empty one. */
  readonly nodes: ReadonlyMap<string, AnyStateNode>;
  readonly transitions: ReadonlyMap<AnyTransitionDefinition, TransitionDescription>;
};

/** Why a definition has no chart, for who reads it beside the actors. */
export class Undrawable extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names that objects have already lead somewhere else than to a state. */
const isName = (name: string): boolean =>
  name !== '' && name.length <= LIMITS.name && !(name in Object.prototype);

/** Before XState goes through it, which has no bounds. @returns the number of states inside */
const countStates = (definition: unknown, depth = 0): number => {
  if (!isRecord(definition)) throw new Undrawable('a state of its definition is not an object');
  const { states } = definition;
  if (states === undefined) return 0;
  if (!isRecord(states)) throw new Undrawable('the states of its definition are not an object');
  if (depth === LIMITS.depth) throw new Undrawable(`its states are more than ${LIMITS.depth} deep`);
  let count = 0;
  for (const [name, inner] of Object.entries(states)) {
    if (!isName(name)) throw new Undrawable(`a state cannot be called '${name.slice(0, 40)}' here`);
    count += 1 + countStates(inner, depth + 1);
    if (count > LIMITS.states) throw new Undrawable(`it has more than ${LIMITS.states} states`);
  }
  return count;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Undrawable('its definition is not JSON');
  }
};

const created = (definition: unknown): AnyStateMachine => {
  try {
    // It is an object whose states are, and what else may be wrong with it XState throws at.
    return createMachine(definition as Parameters<typeof createMachine>[0]);
  } catch (error) {
    throw new Undrawable(`XState refuses its definition: ${firstLine(error)}`);
  }
};

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .split('\n', 1)
    .join('')
    .replace(/\.$/, '')
    .slice(0, LIMITS.name);

const described = (name: string, machine: AnyStateMachine): MachineDescription => {
  let description: unknown;
  try {
    description = describeMachine(name, machine);
  } catch (error) {
    throw new Undrawable(`its definition cannot be read: ${firstLine(error)}`);
  }
  // A definition may have anything where a text belongs.
  const checked = MachineDescription.safeParse(description);
  if (!checked.success) throw new Undrawable('its definition has something else where names or texts belong');
  if (checked.data.transitions.length > LIMITS.transitions) {
    throw new Undrawable(`it has more than ${LIMITS.transitions} transitions`);
  }
  return checked.data;
};

const nodesIn = (node: AnyStateNode): [string, AnyStateNode][] => [
  [pathOf(node) ?? '', node],
  ...Object.values(node.states).flatMap(nodesIn),
];

/** As it calls itself, or as the actor that came with it is called. */
const nameOf = (definition: unknown, otherwise: string): string => {
  const id = isRecord(definition) ? definition.id : undefined;
  if (id === undefined) return otherwise;
  if (typeof id !== 'string' || id === '' || id.length > LIMITS.name) {
    throw new Undrawable('the id of its definition is no name');
  }
  return id;
};

/**
 * @returns undefined for what has no states: a promise, a callback
 * @throws Undrawable
 */
export const readDefinition = (text: string, otherwise: string): ForeignMachine | undefined => {
  if (Buffer.byteLength(text) > LIMITS.definitionBytes) {
    throw new Undrawable(`its definition has more than ${LIMITS.definitionBytes / 1024} KiB`);
  }
  const definition = parsed(text);
  if (countStates(definition) === 0) return undefined;
  const machine = created(definition);
  const description = described(nameOf(definition, otherwise), machine);
  const byId = new Map(description.transitions.map((transition) => [transition.id, transition]));
  return {
    description,
    nodes: new Map(nodesIn(machine.root)),
    transitions: new Map(
      [...transitionIds(machine)].flatMap(([taken, id]) => {
        const found = byId.get(id);
        return found ? [[taken, found] as const] : [];
      }),
    ),
  };
};
