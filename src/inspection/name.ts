import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { MachineName } from '../../machines/index.ts';
import { actorId } from './register.ts';

/** Which actor of the catalogue it is: its own id is that of its thread, run or task. */
export type ActorName = {
  machine: MachineName;
  id: string;
  scope: string;
  /** `<machine>:<id>` of the actor that it works for. */
  parent?: string;
};

/**
 * Whom an actor works for, whether or not that has an actor. It is no parent in XState's sense: a child tells that one
 * its end as an event with the child's id in its type, and a machine remembers every type that it has ever met.
 */
export type WorksFor = { machine: MachineName; id: string };

/** It was made with the id. */
export const nameOf = (actor: AnyActorRef, scope: string, of?: WorksFor): ActorName => ({
  machine: machineOf(actor),
  id: actor.id,
  scope,
  ...(of && { parent: actorId(of.machine, of.id) }),
});

// Every actor that is inspected runs a machine of the catalogue, whose names are their ids.
const machineOf = (actor: AnyActorRef): MachineName =>
  (actor.getSnapshot() as AnyMachineSnapshot).machine.id as MachineName;
