import { type ThreadHost, threadMachine } from '../../machines/thread.ts';
import type { RuntimeDeps } from './deps.ts';
import type { Accepted, DecisionTarget, Submission } from './submission.ts';
import type { TaskEvent } from './tasks.ts';
import type { Ticket } from './wait.ts';

/** The thread machine bound to the actions of an actor: which request comes with which event. */

export type ChildStrategy = 'detach' | 'reject' | 'cascade';

type Refusable = { refuse(error: unknown): void };

export type Input = Submission & Refusable & { accept(accepted: Accepted): void };
export type Decision = Refusable & { ticket: Ticket; target: DecisionTarget; accept(): void };
export type Cancel = Refusable & { run_id: string; done(reached: boolean): void };
export type Interrupt = Refusable & { done(superseded: number): void };
export type TaskTold = Refusable & TaskEvent & { accept(): void };
export type Removal = Refusable & { strategy: ChildStrategy; done(): void };

/** What the machine's guards and actions call. */
export type Host = ThreadHost & {
  startRun(request: Input): void;
  continueRun(request: Input): void;
  enqueue(request: Input): void;
  enqueueForeground(request: Input): void;
  enqueueInstead(request: Input): void;
  deliver(request: Input): void;
  refuse(request: Refusable): void;
  startNext(): void;
  decide(request: Decision): void;
  answer(request: Input): void;
  resumeHeld(request: Decision): void;
  enqueueDecision(request: Decision): void;
  enqueueContinuation(request: Input): void;
  deliverEvent(request: TaskTold): void;
  enqueueWake(request: TaskTold): void;
  wakeHeld(request: TaskTold): void;
  keepEvent(request: TaskTold): void;
  cancel(request: Cancel): void;
  bumpEpoch(): void;
  interrupt(request: Interrupt): void;
  clear(): void;
  cancelActive(): void;
  replaceOpen(request: Input): void;
  holdClaimant(request: Input): void;
  startClaimant(): void;
  refuseClaimant(): void;
  reportTimeout(): void;
  remove(request: Removal): void;
};

type ActionArgs = { context: { host: ThreadHost }; event: { type: string } };

// Every host of a thread machine in this room is made by createThreadActor, which also sends every request.
const hostOf = ({ context }: ActionArgs): Host => context.host as Host;
const requestOf = <Request>({ event }: ActionArgs): Request =>
  (event as { type: string } & { request: Request }).request;

const answering =
  <Request extends Refusable>(act: (host: Host) => (request: Request) => void) =>
  (args: ActionArgs): void =>
    act(hostOf(args))(requestOf<Request>(args));

/** Made once, since binding a machine is not cheap. */
export const bindThreadMachine = (settings: RuntimeDeps['settings']) =>
  threadMachine.provide({
    actions: {
      startRun: answering<Input>((host) => host.startRun),
      continueRun: answering<Input>((host) => host.continueRun),
      enqueue: answering<Input>((host) => host.enqueue),
      enqueueForeground: answering<Input>((host) => host.enqueueForeground),
      enqueueInstead: answering<Input>((host) => host.enqueueInstead),
      deliver: answering<Input>((host) => host.deliver),
      refuse: answering<Refusable>((host) => host.refuse),
      startNext: (args) => hostOf(args).startNext(),
      decide: answering<Decision>((host) => host.decide),
      answer: answering<Input>((host) => host.answer),
      resumeHeld: answering<Decision>((host) => host.resumeHeld),
      enqueueContinuation: answering<Input>((host) => host.enqueueContinuation),
      enqueueDecision: answering<Decision>((host) => host.enqueueDecision),
      deliverEvent: answering<TaskTold>((host) => host.deliverEvent),
      enqueueWake: answering<TaskTold>((host) => host.enqueueWake),
      wakeHeld: answering<TaskTold>((host) => host.wakeHeld),
      keepEvent: answering<TaskTold>((host) => host.keepEvent),
      cancel: answering<Cancel>((host) => host.cancel),
      bumpEpoch: (args) => hostOf(args).bumpEpoch(),
      interrupt: answering<Interrupt>((host) => host.interrupt),
      clear: (args) => hostOf(args).clear(),
      cancelActive: (args) => hostOf(args).cancelActive(),
      replaceOpen: answering<Input>((host) => host.replaceOpen),
      holdClaimant: (args) => hostOf(args).holdClaimant(requestOf<Input>(args)),
      startClaimant: (args) => hostOf(args).startClaimant(),
      refuseClaimant: (args) => hostOf(args).refuseClaimant(),
      reportTimeout: (args) => hostOf(args).reportTimeout(),
      remove: answering<Removal>((host) => host.remove),
    },
    delays: { releaseWait: settings.foreground_release_wait_ms },
  });

export type BoundThreadMachine = ReturnType<typeof bindThreadMachine>;
