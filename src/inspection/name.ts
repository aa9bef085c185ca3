import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { MachineName } from '../../machines/index.ts';
import { actorId } from './actor-index.ts';

/** The name of an actor in the catalog; its own id is that of its thread, run or task. */
export type ActorName = {
  machine: MachineName;
  id: string;
  scope: string;
  /** `<machine>:<id>` of the actor that it works for. */
  parent?: string;
};

/**
 * The actor that another one works for, whether or not it is live. It is not a parent in XState's sense: a child
 * reports its end to its parent as an event with the child's id in its type, and a machine caches every type that it
 * has received.
 */
export type WorksFor = { machine: MachineName; id: string };

/** Requires an actor that was created with this id. */
export const nameOf = (actor: AnyActorRef, scope: string, of?: WorksFor): ActorName => ({
  machine: machineOf(actor),
  id: actor.id,
  scope,
  ...(of && { parent: actorId(of.machine, of.id) }),
});

// Every inspected actor runs a machine of the catalog, whose names are their ids.
const machineOf = (actor: AnyActorRef): MachineName =>
  (actor.getSnapshot() as AnyMachineSnapshot).machine.id as MachineName;
