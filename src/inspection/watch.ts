import type {
  AnyActorRef,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
} from 'xstate';
import { describeMachine, transitionIds } from '../diagrams/describe.ts';
import type { TransitionDescription } from '../diagrams/description.ts';
import { pathOf } from '../diagrams/naming.ts';
import type { ActorAdapter } from './actor-adapter.ts';

/** Reads the actor of a machine: its state, and the described transitions that it takes. */

// Every actor of the catalog is an actor of a machine.
export const snapshotOf = (actor: AnyActorRef): AnyMachineSnapshot => actor.getSnapshot();

/** The path of a node never changes. */
const paths = new WeakMap<AnyStateNode, string>();

const innermostPath = (node: AnyStateNode): string => {
  let path = paths.get(node);
  if (path === undefined) {
    path = pathOf(node) ?? '';
    paths.set(node, path);
  }
  return path;
};

const isInnermost = ({ type }: AnyStateNode): boolean => type === 'atomic' || type === 'final';

/** Paths of the innermost states, in document order. */
export const stateOf = ({ _nodes }: Pick<AnyMachineSnapshot, '_nodes'>): string => {
  let only: AnyStateNode | undefined;
  for (const node of _nodes) {
    if (!isInnermost(node)) continue;
    if (only) return statesOf(_nodes);
    only = node;
  }
  return only ? innermostPath(only) : '';
};

/** Parallel regions have one innermost state each. */
const statesOf = (nodes: readonly AnyStateNode[]): string =>
  nodes
    .filter(isInnermost)
    .sort((one, other) => one.order - other.order)
    .map(innermostPath)
    .join(' ');

type Transitions = ReadonlyMap<AnyTransitionDefinition, TransitionDescription>;

const readTransitions = (machine: AnyStateMachine): Transitions => {
  const byId = new Map(describeMachine(machine.id, machine).transitions.map((found) => [found.id, found]));
  return new Map(
    [...transitionIds(machine)].flatMap(([definition, id]) => {
      const found = byId.get(id);
      return found ? [[definition, found] as const] : [];
    }),
  );
};

/** The runtime binds a machine once and creates many actors from it. */
const known = new WeakMap<AnyStateMachine, Transitions>();

const transitionsOf = (machine: AnyStateMachine): Transitions => {
  const found = known.get(machine) ?? readTransitions(machine);
  known.set(machine, found);
  return found;
};

/**
 * Reports every transition that the actor takes from now on, with the snapshots before and after it. One macrostep may
 * take several transitions in sequence; the actor itself has its new snapshot only after the last one. The returned
 * function removes the inspector.
 */
export const watchTransitions = (
  actor: AnyActorRef,
  taken: (transition: TransitionDescription, from: AnyMachineSnapshot, to: AnyMachineSnapshot) => void,
): (() => void) => {
  let to = snapshotOf(actor);
  const transitions = transitionsOf(to.machine);
  const inspecting = actor.system.inspect((inspected) => {
    if (inspected.type !== '@xstate.microstep' || inspected.actorRef !== actor) return;
    const from = to;
    // Only machines take microsteps.
    to = inspected.snapshot as AnyMachineSnapshot;
    for (const definition of inspected._transitions) {
      const transition = transitions.get(definition);
      if (transition) taken(transition, from, to);
    }
  });
  return () => inspecting.unsubscribe();
};

export const ofThisProcess: ActorAdapter<AnyActorRef, AnyMachineSnapshot> = {
  placeOf: snapshotOf,
  stateOf,
  tagsOf: ({ tags }) => tags,
  nodesOf: ({ _nodes }) => _nodes,
  watch: watchTransitions,
};
