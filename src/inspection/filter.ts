import type { AnyStateNode } from 'xstate';
import { type MachineName, machines } from '../../machines/index.ts';
import { describeMachine } from '../diagrams/describe.ts';
import { pathOf } from '../diagrams/naming.ts';
import { hintOf } from '../schema/nearest.ts';
import type { Nodes } from './actor-adapter.ts';

export type ActorFilter = {
  /** Name of the machine in the catalog, or its own name if it is not part of the catalog. */
  machine?: string | undefined;
  /** Id of a thread: selects its actor, and all actors that work for it. */
  thread?: string | undefined;
  /** Id of a run, with the same meaning. */
  run?: string | undefined;
  state?: StateFilter | undefined;
};

/** Whether an actor with these active nodes matches. */
export type StateFilter = (nodes: Nodes) => boolean;

/** Matches a path or a part of it: `running`, `retrying`, `retrying.pausing`, `pausing`. */
const isPartOf = (part: string, path: string | null): boolean => `.${path ?? ''}.`.includes(`.${part}.`);

/**
 * Actors of one machine share their nodes, so each innermost node is checked only once, together with its ancestors,
 * regardless of the number of actors.
 */
const within = (isMeant: (node: AnyStateNode) => boolean): StateFilter => {
  const known = new Map<AnyStateNode, boolean>();
  return (nodes) => {
    for (const node of nodes) {
      if (node.type === 'compound' || node.type === 'parallel') continue;
      let meant = known.get(node);
      if (meant === undefined) {
        meant = [...selfAndAncestors(node)].some(isMeant);
        known.set(node, meant);
      }
      if (meant) return true;
    }
    return false;
  };
};

function* selfAndAncestors(node: AnyStateNode): Generator<AnyStateNode> {
  for (let each: AnyStateNode | undefined = node; each; each = each.parent) yield each;
}

export const inState = (part: string): StateFilter => within((node) => isPartOf(part, pathOf(node)));

export const tagged = (machine: MachineName, tag: string): StateFilter =>
  within((node) => node.machine.id === machines[machine].id && node.tags.includes(tag));

// The keys of `machines` are exactly the machine names.
export const MACHINE_NAMES = Object.keys(machines) as [MachineName, ...MachineName[]];

/** Returns why no state has this name, in one machine or in any. */
export const problemOfState = (part: string, machine?: MachineName): string | undefined => {
  const paths = pathsOf(machine === undefined ? MACHINE_NAMES : [machine]);
  if (paths.some((path) => isPartOf(part, path))) return undefined;
  const whose = machine === undefined ? 'no machine has' : `the machine '${machine}' does not have`;
  return `${whose} a state '${part}'${hintOf(part, 'states', paths)}`;
};

const pathsOf = (names: readonly MachineName[]): string[] => [
  ...new Set(names.flatMap((name) => describeMachine(name, machines[name]).states.map(({ path }) => path))),
];
