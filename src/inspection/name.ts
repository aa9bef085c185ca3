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

/** Whom an actor works for that outlives the actors of that one. */
export type WorksFor = { machine: MachineName; id: string };

/** As the actor says of itself: it was made with the id, and as a child of the one that it works for. */
export const nameOf = (actor: AnyActorRef, scope: string, of?: WorksFor): ActorName => {
  const name = { machine: machineOf(actor), id: actor.id, scope };
  if (of) return { ...name, parent: actorId(of.machine, of.id) };
  const parent = actor._parent;
  return parent ? { ...name, parent: actorId(machineOf(parent), parent.id) } : name;
};

// Every actor that is inspected runs a machine of the catalogue, whose names are their ids.
const machineOf = (actor: AnyActorRef): MachineName =>
  (actor.getSnapshot() as AnyMachineSnapshot).machine.id as MachineName;
