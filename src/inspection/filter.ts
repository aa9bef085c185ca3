import type { AnyMachineSnapshot, AnyStateNode } from 'xstate';
import { type MachineName, machines } from '../../machines/index.ts';
import { hintOf } from '../schema/nearest.ts';
import { describeMachine } from '../statecharts/describe.ts';
import { pathOf } from '../statecharts/naming.ts';

/** Which actors somebody wants to see. */

export type ActorFilter = {
  machine?: MachineName | undefined;
  /** Id of a thread: its actor, and all that work for it. */
  thread?: string | undefined;
  /** The same for a run. */
  run?: string | undefined;
  state?: StateFilter | undefined;
};

type Nodes = AnyMachineSnapshot['_nodes'];

/** Whether an actor that is in these states is meant. */
export type StateFilter = (nodes: Nodes) => boolean;

/** A state is meant by its path or by a part of it: `running`, `retrying`, `retrying.pausing`, `pausing`. */
const isPartOf = (part: string, path: string | null): boolean => `.${path ?? ''}.`.includes(`.${part}.`);

/** Actors of one machine have the same nodes, so each is looked at once, however many actors there are. */
export const inState = (part: string): StateFilter => {
  const known = new Map<AnyStateNode, boolean>();
  const isMeant = (node: AnyStateNode): boolean => {
    let meant = known.get(node);
    if (meant === undefined) {
      meant = isPartOf(part, pathOf(node));
      known.set(node, meant);
    }
    return meant;
  };
  return (nodes) => nodes.some(isMeant);
};

export const tagged =
  (tag: string): StateFilter =>
  (nodes) =>
    nodes.some(({ tags }) => tags.includes(tag));

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
