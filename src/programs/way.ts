import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { Taken } from '../inspection/sight.ts';
import { pathOf } from '../statecharts/naming.ts';
import type { ForeignMachine } from './definition.ts';

/**
 * Which transitions led an actor from one state to the next. The protocol tells the event and the state behind it
 * only, not what was taken, and guards are functions of the program: so it is the first transition, from the innermost
 * state outwards, that takes the event and leads there, at once or through what follows of itself. Two that differ in
 * nothing but their guards cannot be told apart.
 */

/** So many transitions without an event may follow one another. */
const MOST_IN_A_ROW = 4;

const isFor = (descriptor: string, event: string): boolean =>
  descriptor === event ||
  descriptor === '*' ||
  (descriptor.endsWith('.*') && event.startsWith(descriptor.slice(0, -1)));

function* around(node: AnyStateNode | undefined): Generator<AnyStateNode> {
  for (let each = node; each; each = each.parent) yield each;
}

const candidates = (node: AnyStateNode, event: string): AnyTransitionDefinition[] =>
  [...node.transitions].flatMap(([descriptor, definitions]) =>
    isFor(descriptor, event) ? [...definitions] : [],
  );

/** What happens without anything from outside. */
const ofItself = (node: AnyStateNode): AnyTransitionDefinition[] => [
  ...(node.always ?? []),
  ...candidates(node, `xstate.done.state.${node.id}`),
];

const isWithin = (node: AnyStateNode, states: readonly string[]): boolean => {
  const path = pathOf(node) ?? '';
  return path === '' || states.some((state) => state === path || state.startsWith(`${path}.`));
};

/** The states that are entered with this one. */
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
  for (const target of definition.target ?? []) {
    for (const node of [...entered(target), ...around(target.parent)]) {
      for (const next of ofItself(node)) {
        const row = next === definition ? undefined : rowFrom(next, move, left - 1);
        if (row) return [definition, ...row];
      }
    }
  }
  return undefined;
};

const rowOf = (leaf: AnyStateNode, event: string, move: Move): AnyTransitionDefinition[] => {
  for (const most of [0, MOST_IN_A_ROW]) {
    for (const node of around(leaf)) {
      for (const definition of candidates(node, event)) {
        const row = rowFrom(definition, move, most);
        if (row) return row;
      }
    }
  }
  return [];
};

const listed = (state: string): string[] => state.split(' ').filter(Boolean);

/** Nothing for an event that changes nothing; something without an id for a change that no transition explains. */
export const wayOf = (
  machine: ForeignMachine | undefined,
  { from, event, to }: { from: string; event: string; to: string },
): Taken[] => {
  const isStill = from === to;
  const move: Move = { to: listed(to), isStill };
  const left = listed(from).filter((state) => isStill || !move.to.includes(state));
  const found = new Set<AnyTransitionDefinition>();
  for (const state of left) {
    const leaf = machine?.nodes.get(state);
    if (leaf) for (const definition of rowOf(leaf, event, move)) found.add(definition);
  }
  const taken = [...found].flatMap((definition) => machine?.transitions.get(definition) ?? []);
  if (taken.length > 0 || isStill) return taken;
  return [{ id: '', event }];
};
