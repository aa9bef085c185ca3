import { add, createRegister, type Entry, liveActor, remove } from '../inspection/actor-index.ts';
import {
  type ActorReader,
  createSubscribers,
  join,
  notifyEnd,
  notifyStart,
  type Subscribers,
} from '../inspection/subscribers.ts';
import type { Clock } from '../schema/clock.ts';
import type { LiveActor } from '../schema/live-actor.ts';
import type { Program as Seen } from '../schema/program.ts';
import { type ForeignActor, ofOtherPrograms, type Place, placeIn } from './actor.ts';
import { type Allowance, newAllowance, refill } from './allowance.ts';
import { inferTransitions } from './infer-transitions.ts';
import { LIMITS } from './limits.ts';
import {
  createMachines,
  draw,
  type Machine,
  type Machines,
  machineAsSeen,
  resolveMachine,
} from './machines.ts';
import { type Message, readMessage, type Snapshot } from './message.ts';
import { stateOf, statusOf } from './state-of.ts';

/**
 * Other XState programs that report their actors, and the readers that watch them.
 *
 * Guarantees: no data of the service enters this module, so none can leak to programs; reports are bounded by
 * `limits.ts` and affect actors of the reporting program only; a rejected message is counted, with the reason, and has
 * no other effect. Readers are notified at their own pace, like those of the service's own actors (`src/inspection`).
 * When a program disconnects, its actors end.
 * Relies on receiving messages in the order in which they were sent.
 * Costs parsing each message; the transitions taken are determined only for watched actors.
 */

export type Program = {
  readonly id: string;
  name: string;
  readonly since: number;
  isConnected: boolean;
  readonly actors: Map<string, Entry<ForeignActor>>;
  readonly machines: Machines;
  refused: number;
  lastProblem: string | null;
  /** Remaining quota of the program. */
  readonly budget: { messages: Allowance; bytes: Allowance };
};

export type Programs = {
  readonly clock: Clock;
  readonly audience: Subscribers<ForeignActor, Place>;
  /** In the order of connection. */
  readonly all: Map<string, Program>;
  /** Quota of new programs. */
  readonly openings: Allowance;
  /** Number of the last program. */
  count: number;
  /** Number of the last actor. */
  serial: number;
};

export const createPrograms = (clock: Clock): Programs => ({
  clock,
  audience: createSubscribers(createRegister(ofOtherPrograms), clock),
  all: new Map(),
  openings: newAllowance(LIMITS.openings.burst, LIMITS.openings.rate, clock.now()),
  count: 0,
  serial: 0,
});

/** Returns the reason why no other program can connect now, if any. */
export const fullness = (programs: Programs): string | undefined => {
  const { all, clock, openings } = programs;
  const connected = [...all.values()].filter(({ isConnected }) => isConnected).length;
  if (connected >= LIMITS.programs) return `${LIMITS.programs} programs report already`;
  return refill(openings, clock.now()) < 1 ? 'programs connect too often: try again in a second' : undefined;
};

/** Adds a connected program. @param name if empty, the program is named after its first actor */
export const opened = (programs: Programs, name: string): Program => {
  const { all, clock } = programs;
  programs.count += 1;
  programs.openings.left -= 1;
  const program: Program = {
    id: String(programs.count),
    name: name.slice(0, LIMITS.name),
    since: clock.now(),
    isConnected: true,
    actors: new Map(),
    machines: createMachines(),
    refused: 0,
    lastProblem: null,
    budget: {
      messages: newAllowance(LIMITS.burst.messages, LIMITS.rate.messages, clock.now()),
      bytes: newAllowance(LIMITS.burst.bytes, LIMITS.rate.bytes, clock.now()),
    },
  };
  all.set(program.id, program);
  return program;
};

export const closed = (programs: Programs, program: Program): void => {
  program.isConnected = false;
  for (const [session, entry] of program.actors) end(programs, program, session, entry);
  const gone = [...programs.all.values()].filter(({ isConnected }) => !isConnected);
  for (const { id } of gone.slice(0, Math.max(0, gone.length - LIMITS.gone))) programs.all.delete(id);
};

export const refuse = (program: Program, problem: string): void => {
  program.refused += 1;
  program.lastProblem = problem;
};

/** Takes a message from the quota; false if the quota is exhausted. */
const isAffordable = ({ clock }: Programs, { budget }: Program, bytes: number): boolean => {
  const now = clock.now();
  if (refill(budget.messages, now) < 1 || refill(budget.bytes, now) < bytes) return false;
  budget.messages.left -= 1;
  budget.bytes.left -= bytes;
  return true;
};

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

export const received = (programs: Programs, program: Program, bytes: Uint8Array): void => {
  if (bytes.byteLength > LIMITS.messageBytes) {
    refuse(program, `a message has more than ${LIMITS.messageBytes / 1024} KiB`);
  } else if (!isAffordable(programs, program, bytes.byteLength)) {
    refuse(program, `more than ${LIMITS.rate.messages} messages or 4 MiB in a second`);
  } else {
    const read = readMessage(UTF8.decode(bytes));
    if ('problem' in read) refuse(program, read.problem);
    else if (read.message) take(programs, program, read.message);
  }
};

const take = (programs: Programs, program: Program, message: Message): void => {
  if (message.type === '@xstate.event') return;
  const { sessionId: session, snapshot } = message;
  const state = stateOf(snapshot);
  if (state === undefined) {
    refuse(program, 'the value of a snapshot is no state');
    return;
  }
  const known = program.actors.get(session);
  const isOver = hasEnded(snapshot);
  if (known && message.type === '@xstate.snapshot') {
    moved(programs, known, state, message.event?.type ?? '');
    if (isOver) end(programs, program, session, known);
  } else if (!known && !isOver) {
    begin(programs, program, message, state);
  }
};

const hasEnded = (snapshot: Snapshot): boolean => statusOf(snapshot) !== 'active';

/** An actor may be known by its snapshots alone; it has no machine then. */
const begin = (programs: Programs, program: Program, message: Message, state: string): void => {
  if (program.actors.size >= LIMITS.actors) {
    refuse(program, `more than ${LIMITS.actors} actors at a time`);
    return;
  }
  const reported = message.type === '@xstate.actor' ? message : undefined;
  const name = reported?.name || message.sessionId;
  if (program.name === '') program.name = name;
  const { machine, isNew } = resolveMachine(program.machines, name, reported?.definition);
  if (isNew) void draw(machine, () => program.isConnected);
  programs.serial += 1;
  const place = placeIn(machine.foreign, state);
  const entry: Entry<ForeignActor> = {
    id: `${program.id}:${message.sessionId}`,
    machine: machineKey(program, machine),
    serial: programs.serial,
    parent: reported?.parentId ? `${program.id}:${reported.parentId}` : null,
    actor: { machine: machine.foreign, place, onTransition: undefined },
    nodes: [],
    since: programs.clock.now(),
    unwatch: undefined,
  };
  program.actors.set(message.sessionId, entry);
  add(programs.audience.register, entry);
  notifyStart(programs.audience, entry);
};

/** Includes the program, because several programs may have machines of one name. */
export const machineKey = ({ id }: Pick<Program, 'id'>, { name }: Pick<Machine, 'name'>): string =>
  `${id}/${name}`;

const moved = ({ clock }: Programs, entry: Entry<ForeignActor>, state: string, event: string): void => {
  const { actor } = entry;
  const from = actor.place;
  const next = placeIn(actor.machine, state);
  const to = next.state === from.state ? from : next;
  if (to !== from) {
    actor.place = to;
    entry.since = clock.now();
  }
  if (!actor.onTransition) return;
  const transitions = inferTransitions(actor.machine, { from: from.state, event, to: to.state });
  for (const [index, transition] of transitions.entries())
    actor.onTransition(transition, index === 0 ? from : to, to);
};

const end = ({ audience }: Programs, program: Program, session: string, entry: Entry<ForeignActor>): void => {
  program.actors.delete(session);
  remove(audience.register, entry);
  notifyEnd(audience, entry);
};

/** Connected programs first, then disconnected ones. */
export const listed = ({ all }: Programs): Seen[] =>
  [...all.values()]
    .sort((one, other) => Number(other.isConnected) - Number(one.isConnected))
    .map(({ id, name, isConnected, since, actors, machines, refused, lastProblem }) => ({
      id,
      name,
      connected: isConnected,
      since,
      actors: actors.size,
      machines: [...machines.byName.values()].map(machineAsSeen),
      refused: { count: refused, last: lastProblem },
    }));

export const listActors = ({ audience }: Programs, { actors }: Program): LiveActor[] =>
  [...actors.values()].map((entry) => liveActor(audience.register, entry));

/** @param machine key of one machine; undefined for all */
export const follow = (
  { audience }: Programs,
  machine: string | undefined,
  reader: ActorReader,
): (() => void) => join(audience, { machine }, reader);
