import { type Actor, type AnyStateMachine, createActor, fromPromise, SimulatedClock } from 'xstate';
import { runMachine, threadMachine } from '../../machines/index.ts';
import { describeMachine } from '../../src/diagrams/describe.ts';
import { ActorFrame } from '../../src/schema/live-actor.ts';

/** Actors of the machines that the service executes. Their services do nothing until the test settles them. */

export type StubbedActor = {
  actor: Actor<AnyStateMachine>;
  /** Settles the current service with this output. */
  settle(output?: object): Promise<void>;
  fail(error: Error): Promise<void>;
  /** Ends the current delay. */
  elapse(): void;
  /** The number of inspectors on it. */
  inspectors(): number;
};

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const start = (machine: AnyStateMachine, input: object): StubbedActor => {
  let running = { resolve(_: unknown): void {}, reject(_: unknown): void {} };
  const stub = fromPromise(
    () =>
      new Promise((resolve, reject) => {
        running = { resolve, reject };
      }),
  );
  const { states } = describeMachine(machine.id, machine);
  const services = states.flatMap(({ invokes }) => invokes.map(({ src }) => [src, stub]));
  const clock = new SimulatedClock();
  const actor = createActor(machine.provide({ actors: Object.fromEntries(services) }), { input, clock });
  actor.subscribe({ error() {} });
  return {
    actor: actor.start(),
    async settle(output = {}) {
      running.resolve(output);
      await turn();
    },
    async fail(error) {
      running.reject(error);
      await turn();
    },
    elapse: () => clock.increment(1_000_000),
    inspectors: countInspectors(actor),
  };
};

const countInspectors = ({ system }: Actor<AnyStateMachine>): (() => number) => {
  let count = 0;
  const inspect = system.inspect;
  system.inspect = (observer) => {
    const inspecting = inspect(observer);
    count += 1;
    return {
      unsubscribe() {
        count -= 1;
        inspecting.unsubscribe();
      },
    };
  };
  return () => count;
};

export const startRun = ({ maxAttempts = 1 } = {}): StubbedActor =>
  start(runMachine, { host: {}, entry: 'inference', attempt: 0, maxAttempts });

/** Runs of one machine as the runtime creates them, whose services never settle. */
export const startRuns = (count: number): Actor<AnyStateMachine>[] => {
  const { machine } = startRun().actor.getSnapshot();
  const input = { host: {}, entry: 'inference', attempt: 0, maxAttempts: 1 };
  return Array.from({ length: count }, () => createActor<AnyStateMachine>(machine, { input }).start());
};

/** A thread whose guards return this answer. By default nothing is queued and no run waits. */
export const startThread = (answer = (): boolean => false): StubbedActor =>
  start(threadMachine.provide({ guards: { hasQueued: () => answer() } }), { host: {} });

/** A follower that records the frames. Each must match the schema. */
export const createFollower = () => {
  let unread = '';
  let announced = 0;
  let held = 0;
  let drained = (): void => {};
  return {
    /** Its socket accepts no data. */
    stalled: false,
    onDrain(listener: () => void): void {
      drained = listener;
    },
    /** Its socket accepts data again. */
    drain(): void {
      this.stalled = false;
      drained();
    },
    write(frames: string, count: number): void {
      if (this.stalled) held += count;
      unread += frames;
      announced += count;
    },
    /** The frames that have arrived since the last call. */
    frames(): ActorFrame[] {
      const texts = unread.split('\n\n').slice(0, -1);
      if (held > 0) throw new Error(`${held} frames were held`);
      if (texts.length !== announced) throw new Error(`${announced} frames announced: ${unread}`);
      unread = '';
      announced = 0;
      return texts.map((text) => ActorFrame.parse(JSON.parse(text.replace(/^data: /, ''))));
    },
  };
};
