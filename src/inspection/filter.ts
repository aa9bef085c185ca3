import type { AnyStateNode } from 'xstate';
import { type MachineName, machines } from '../../machines/index.ts';
import { hintOf } from '../schema/nearest.ts';
import { describeMachine } from '../statecharts/describe.ts';
import { pathOf } from '../statecharts/naming.ts';
import type { Nodes } from './sight.ts';

/** Which actors somebody wants to see. */

export type ActorFilter = {
  /** Its name in the catalogue, or what it is called where there is none. */
  machine?: string | undefined;
  /** Id of a thread: its actor, and all that work for it. */
  thread?: string | undefined;
  /** The same for a run. */
  run?: string | undefined;
  state?: StateFilter | undefined;
};

/** Whether an actor that is in these states is meant. */
export type StateFilter = (nodes: Nodes) => boolean;

/** A state is meant by its path or by a part of it: `running`, `retrying`, `retrying.pausing`, `pausing`. */
const isPartOf = (part: string, path: string | null): boolean => `.${path ?? ''}.`.includes(`.${part}.`);

/**
 * Actors of one machine have the same nodes, so each innermost one is looked at once, with those around it, however
 * many actors there are.
 */
const within = (isMeant: (node: AnyStateNode) => boolean): StateFilter => {
  const known = new Map<AnyStateNode, boolean>();
  return (nodes) => {
    for (const node of nodes) {
      if (node.type === 'compound' || node.type === 'parallel') continue;
      let meant = known.get(node);
      if (meant === undefined) {
        meant = [...around(node)].some(isMeant);
        known.set(node, meant);
      }
      if (meant) return true;
    }
    return false;
  };
};

function* around(node: AnyStateNode): Generator<AnyStateNode> {
  for (let each: AnyStateNode | undefined = node; each; each = each.parent) yield each;
}

export const inState = (part: string): StateFilter => within((node) => isPartOf(part, pathOf(node)));

export const tagged = (machine: MachineName, tag: string): StateFilter =>
  within((node) => node.machine.id === machines[machine].id && node.tags.includes(tag));

// The literal of the catalogue has these keys and no others.
export const MACHINE_NAMES = Object.keys(machines) as [MachineName, ...MachineName[]];

/** What is wrong with a name for a state, of one machine or of any. */
export const problemOfState = (part: string, machine?: MachineName): string | undefined => {
  const paths = pathsOf(machine === undefined ? MACHINE_NAMES : [machine]);
  if (paths.some((path) => isPartOf(part, path))) return undefined;
  const whose = machine === undefined ? 'no machine has' : `the machine '${machine}' does not have`;
  return `${whose} a state '${part}'${hintOf(part, 'states', paths)}`;
};

const pathsOf = (names: readonly MachineName[]): string[] => [
  ...new Set(names.flatMap((name) => describeMachine(name, machines[name]).states.map(({ path }) => path))),
];
