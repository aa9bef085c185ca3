import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, createMachine } from 'xstate';
import { describeMachine, transitionIds } from '../diagrams/describe.ts';
import { MachineDescription, type TransitionDescription } from '../diagrams/description.ts';
import { pathOf } from '../diagrams/naming.ts';
import { LIMITS } from './limits.ts';

/**
 * Parses the machine of another program from its definition. XState itself interprets it, so targets, delays and events
 * of services keep their meaning; functions are only names in a definition, so none of its code is executed.
 */
export type ForeignMachine = {
  readonly description: MachineDescription;
  /** By path; the machine itself has the empty path. */
  readonly nodes: ReadonlyMap<string, AnyStateNode>;
  readonly transitions: ReadonlyMap<AnyTransitionDefinition, TransitionDescription>;
};

/** The reason why a definition has no chart, shown with its actors. */
export class Undrawable extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Inherited property names of objects would not resolve to a state. */
const isName = (name: string): boolean =>
  name !== '' && name.length <= LIMITS.name && !(name in Object.prototype);

/**
 * Checks the bounds before XState traverses the definition, because XState has none. @returns the number of nested
 * states
 */
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
    // The definition is an object with valid states; XState throws for any other problem.
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
  // A definition may contain any value in place of a text.
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

/** The id of the machine, or the name of the actor that it arrived with. */
const nameOf = (definition: unknown, otherwise: string): string => {
  const id = isRecord(definition) ? definition.id : undefined;
  if (id === undefined) return otherwise;
  if (typeof id !== 'string' || id === '' || id.length > LIMITS.name) {
    throw new Undrawable('the id of its definition is no name');
  }
  return id;
};

/**
 * @returns undefined for logic without states: a promise, a callback
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
