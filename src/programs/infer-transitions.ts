import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { pathOf } from '../diagrams/naming.ts';
import type { TakenTransition } from '../inspection/actor-adapter.ts';
import type { ForeignMachine } from './definition.ts';

/**
 * Determines the transitions that led an actor from one state to the next. The protocol contains only the event and the
 * resulting state, and guards are functions of the program: so the result is the first transition, from the innermost
 * state outwards, that accepts the event and leads to the state, directly or through subsequent eventless transitions.
 * Transitions that differ only in their guards are indistinguishable.
 */

/** Maximum number of consecutive eventless transitions. */
const MOST_IN_A_ROW = 4;

const isFor = (descriptor: string, event: string): boolean =>
  descriptor === event ||
  descriptor === '*' ||
  (descriptor.endsWith('.*') && event.startsWith(descriptor.slice(0, -1)));

function* selfAndAncestors(node: AnyStateNode | undefined): Generator<AnyStateNode> {
  for (let each = node; each; each = each.parent) yield each;
}

const candidates = (node: AnyStateNode, event: string): AnyTransitionDefinition[] =>
  [...node.transitions].flatMap(([descriptor, definitions]) =>
    isFor(descriptor, event) ? [...definitions] : [],
  );

/** Transitions that need no external event. */
const ofItself = (node: AnyStateNode): AnyTransitionDefinition[] => [
  ...(node.always ?? []),
  ...candidates(node, `xstate.done.state.${node.id}`),
];

const isWithin = (node: AnyStateNode, states: readonly string[]): boolean => {
  const path = pathOf(node) ?? '';
  return path === '' || states.some((state) => state === path || state.startsWith(`${path}.`));
};

/** The states entered together with this one. */
const entered = (node: AnyStateNode): AnyStateNode[] => {
  if (node.type === 'parallel') return [node, ...Object.values(node.states).flatMap(entered)];
  if (node.type !== 'compound') return [node];
  const [initial] = node.initial.target;
  return [node, ...(initial ? entered(initial) : [])];
};

type Move = { to: readonly string[]; isStill: boolean };

const leadsThere = ({ target }: AnyTransitionDefinition, { to, isStill }: Move): boolean =>
  target?.length ? target.every((node) => isWithin(node, to)) : isStill;

const rowFrom = (
  definition: AnyTransitionDefinition,
  move: Move,
  left: number,
): AnyTransitionDefinition[] | undefined => {
  if (leadsThere(definition, move)) return [definition];
  if (left === 0) return undefined;
  for (const next of followers(definition)) {
    const row = next === definition ? undefined : rowFrom(next, move, left - 1);
    if (row) return [definition, ...row];
  }
  return undefined;
};

/** Yields the eventless transitions that may be taken after this one. */
function* followers({ target = [] }: AnyTransitionDefinition): Generator<AnyTransitionDefinition> {
  for (const entry of target) {
    for (const node of [...entered(entry), ...selfAndAncestors(entry.parent)]) yield* ofItself(node);
  }
}

const rowOf = (leaf: AnyStateNode, event: string, move: Move): AnyTransitionDefinition[] => {
  for (const most of [0, MOST_IN_A_ROW]) {
    for (const node of selfAndAncestors(leaf)) {
      for (const definition of candidates(node, event)) {
        const row = rowFrom(definition, move, most);
        if (row) return row;
      }
    }
  }
  return [];
};

const listed = (state: string): string[] => state.split(' ').filter(Boolean);

/** Empty for an event without a change; a transition without an id for an unexplained change. */
export const inferTransitions = (
  machine: ForeignMachine | undefined,
  { from, event, to }: { from: string; event: string; to: string },
): TakenTransition[] => {
  const isStill = from === to;
  const move: Move = { to: listed(to), isStill };
  const exited = listed(from).filter((state) => isStill || !move.to.includes(state));
  const found = new Set<AnyTransitionDefinition>();
  for (const state of exited) {
    const leaf = machine?.nodes.get(state);
    if (leaf) for (const definition of rowOf(leaf, event, move)) found.add(definition);
  }
  const taken = [...found].flatMap((definition) => machine?.transitions.get(definition) ?? []);
  if (taken.length > 0 || isStill) return taken;
  return [{ id: '', event }];
};
