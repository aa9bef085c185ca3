import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { machines } from '../../machines/index.ts';
import type { MachineDescription, StateDescription, TransitionDescription } from './description.ts';
import { actionName, eventNames, guardName, pathOf } from './naming.ts';

/**
 * Converts a statechart to plain data.
 * Relies on the parsed machine only, not on its source: a machine that is bound to the services of the runtime has the
 * same description as the unbound one.
 */

/** Returns the node and all its descendants, in document order. */
const nodesWithin = (node: AnyStateNode): AnyStateNode[] => [
  node,
  ...Object.values(node.states).flatMap((child) => nodesWithin(child)),
];

const listed = <Item>(items: Item | readonly Item[] | undefined): readonly Item[] =>
  items === undefined ? [] : ([] as readonly Item[]).concat(items);

const initialOf = (node: AnyStateNode): string | null => {
  if (node.type !== 'compound') return null;
  const [child] = node.initial.target;
  return child ? pathOf(child) : null;
};

const describeState = (node: AnyStateNode): StateDescription => ({
  path: pathOf(node) ?? '',
  parent: node.parent ? pathOf(node.parent) : null,
  type: node.type,
  description: node.description ?? '',
  tags: [...node.tags],
  initial: initialOf(node),
  invokes: node.invoke.map(({ id, src }) => ({ id, src: String(src) })),
  // From the configuration, because XState adds actions that set and clear the delays of `after`.
  entry: listed(node.config.entry).map(actionName),
  exit: listed(node.config.exit).map(actionName),
});

type Described = { definition: AnyTransitionDefinition; described: TransitionDescription };

/** Returns one row per transition; a transition into several regions names the first target. */
const transitionsFrom = (node: AnyStateNode): Described[] => {
  const from = pathOf(node);
  const names = eventNames(node);
  const candidates = [...node.transitions, ['', node.always ?? []] as const];
  return candidates.flatMap(([descriptor, definitions]) => {
    const event = descriptor === '' ? 'always' : (names.get(descriptor) ?? descriptor);
    return definitions.map((definition, index) => ({
      definition,
      described: {
        id: `${from ?? '*'} ${event} ${index}`,
        from,
        to: definition.target?.[0] ? pathOf(definition.target[0]) : null,
        event,
        guard: guardName(definition.guard),
        actions: definition.actions.map(actionName),
        description: definition.description ?? '',
      },
    }));
  });
};

const transitionsOf = (machine: AnyStateMachine): Described[] =>
  nodesWithin(machine.root).flatMap(transitionsFrom);

/**
 * Returns the id that {@link describeMachine} gives to each transition of this machine object, so that transitions
 * taken by its actors, as reported to an inspector, can be found in the description.
 */
export const transitionIds = (machine: AnyStateMachine): ReadonlyMap<AnyTransitionDefinition, string> =>
  new Map(transitionsOf(machine).map(({ definition, described }) => [definition, described.id]));

export const describeMachine = (name: string, machine: AnyStateMachine): MachineDescription => ({
  name,
  id: machine.id,
  description: machine.root.description ?? '',
  initial: initialOf(machine.root),
  states: nodesWithin(machine.root).slice(1).map(describeState),
  transitions: transitionsOf(machine).map(({ described }) => described),
});

/** Describes all machines of the catalog, in its order. */
export const describeAll = (): MachineDescription[] =>
  Object.entries(machines).map(([name, machine]) => describeMachine(name, machine));
