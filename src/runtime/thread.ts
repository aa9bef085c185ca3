import { createActor } from 'xstate';
import { type ThreadHost, threadMachine } from '../../machines/thread.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { ContentBlock, Message, Role } from '../schema/message.ts';
import { Conflict, NotFound, Unavailable } from '../schema/outcome.ts';
import type { RunAdapter, RunOrigin } from '../schema/run.ts';
import { type Channel, createChannel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { type BoundRunMachine, createExecution, type Execution, type ExecutionInput } from './execution.ts';
import { createLedger, type Ledger, threadFacts, type Write } from './ledger.ts';
import { createQueue, logDispatch } from './queue.ts';
import { claim, newDispatch, newRun } from './records.ts';

/**
 * The actor of one thread: everything that changes the thread goes through it, one event after the other. The
 * machine decides; the actions here carry the decision out in one commit, synchronously, and answer the request
 * when the commit is durable. An action that throws, or a commit that fails, retires the actor: it is made again
 * from the store, which is the only truth.
 *
 * The process has the store for itself, so a dispatch that is claimed when the actor is made has lost its worker:
 * it is reclaimed there. Recovery after a crash is therefore nothing but making the actor.
 */

export type UserMessage = { role: Exclude<Role, 'tool'>; content: ContentBlock[] };

export type Submission = {
  agent: ResolvedAgent;
  messages: readonly UserMessage[];
  origin: RunOrigin;
  adapter: RunAdapter;
  /** Readers join here, before the first event. */
  attach(channel: Channel): void;
};

export type Accepted = { run_id: string; thread_id: string; dispatch_id: string };

export type ChildStrategy = 'detach' | 'reject' | 'cascade';

export type ThreadActor = {
  readonly ledger: Ledger;
  /** Resolves when the input is durable and its run has the thread. @throws Conflict when the thread is not released */
  submitForeground(submission: Submission): Promise<Accepted>;
  /** Starts queued work, if there is some and nothing else executes. */
  wake(): void;
  /** Stops the thread's work and removes its rows. Resolves when that is durable. */
  remove(strategy: ChildStrategy): Promise<void>;
  /** Lets go of what executes; the next start takes it up again. */
  release(reason: string): void;
  executing(): boolean;
  /** Nothing executes, is queued or is being written: the actor may be dropped and made again from the store. */
  passive(): boolean;
};

export type ThreadOptions = {
  scope: string;
  id: string;
  runMachine: BoundRunMachine;
  threadMachine: BoundThreadMachine;
  /** False while the service stops: nothing queued is started any more. */
  accepting(): boolean;
  /** The actor must not be used again; another one may be made once `quiet` resolves. */
  onRetired(quiet: Promise<void>): void;
  /** It may have become passive. */
  onSettled(): void;
};

type Settle = { accept(accepted: Accepted): void; refuse(error: unknown): void };
type Foreground = Submission & Settle;
type Removal = { strategy: ChildStrategy; done(): void; refuse(error: unknown): void };

/** What the machine's actions call. */
type Host = ThreadHost & {
  startRun(request: Foreground): void;
  startNext(): void;
  bumpEpoch(): void;
  cancelActive(): void;
  holdClaimant(request: Foreground): void;
  startClaimant(): void;
  refuseClaimant(): void;
  remove(request: Removal): void;
};

type ActionArgs = { context: { host: ThreadHost }; event: object };

// Every host of a thread machine in this room is made by createThreadActor, which also sends every request.
const hostOf = ({ context }: ActionArgs): Host => context.host as Host;
const requestOf = <Request>({ event }: ActionArgs): Request => (event as { request: Request }).request;

/** An action that throws retires the actor; whoever asked for it must not wait for ever. */
const answering = <Request extends { refuse(error: unknown): void }>(
  request: Request,
  act: (request: Request) => void,
): void => {
  try {
    act(request);
  } catch (error) {
    request.refuse(error);
    throw error;
  }
};

/** The thread machine with the actions of this process; made once, since binding a machine is not cheap. */
export const bindThreadMachine = (settings: RuntimeDeps['settings']) =>
  threadMachine.provide({
    actions: {
      startRun: (args) => answering(requestOf<Foreground>(args), hostOf(args).startRun),
      startNext: (args) => hostOf(args).startNext(),
      bumpEpoch: (args) => hostOf(args).bumpEpoch(),
      cancelActive: (args) => hostOf(args).cancelActive(),
      holdClaimant: (args) => hostOf(args).holdClaimant(requestOf<Foreground>(args)),
      startClaimant: (args) => hostOf(args).startClaimant(),
      refuseClaimant: (args) => hostOf(args).refuseClaimant(),
      remove: (args) => answering(requestOf<Removal>(args), hostOf(args).remove),
    },
    delays: { releaseWait: settings.foreground_release_wait_ms },
  });

export type BoundThreadMachine = ReturnType<typeof bindThreadMachine>;

const BUSY = 'thread has an active run; cannot claim inline';

export const createThreadActor = (deps: RuntimeDeps, options: ThreadOptions): ThreadActor => {
  const { clock, ids, settings, store } = deps;
  const { scope, id } = options;
  const lease = { ...deps, lease_ms: settings.mailbox.lease_ms };
  let execution: Execution | undefined;
  let claimant: Foreground | undefined;
  let alarm: NodeJS.Timeout | undefined;
  let whenEnded: (() => void) | undefined;

  /** Resolves when nothing executes any more. */
  const ended = (): Promise<void> =>
    new Promise((resolve) => {
      if (execution) whenEnded = resolve;
      else resolve();
    });

  const retire = (error: unknown): void => {
    deps.log.error({ err: error, thread_id: id }, 'the thread is made again from the store');
    execution?.release('the service could not write to its store');
    options.onRetired(ledger.quiet());
  };

  const ledger = createLedger(
    { store, ids, events: deps.events, observe: deps.observe.mailbox, onFailure: retire },
    scope,
    id,
  );
  const queue = createQueue(deps, ledger);

  /** A run that was let go belongs to whoever claims its dispatch next, and so does the thread. */
  const letGo = (): void => {
    claimant?.refuse(new Unavailable('the thread was let go; try again'));
    claimant = undefined;
    options.onRetired(ledger.quiet());
  };

  /** For commits that nobody waits for: a failure has already retired the actor. */
  const commitInBackground = (write: Write): void => {
    write.commit('progress').catch(() => {});
  };

  const launch = (input: Omit<ExecutionInput, 'ledger' | 'onSettled'>, write: Write): Execution => {
    const next = createExecution(deps, options.runMachine, {
      ...input,
      ledger,
      onSettled(how) {
        if (execution === next) execution = undefined;
        whenEnded?.();
        if (how === 'released') return letGo();
        actor.send({ type: 'RUN_ENDED' });
        options.onSettled();
      },
    });
    execution = next;
    next.announce(write);
    return next;
  };

  const startRun = (request: Foreground): void => {
    const write = ledger.open(clock.now());
    if (!ledger.record()) write.create({ id, metadata: { created_at: write.at, updated_at: write.at } });
    const epoch = write.bumpEpoch();
    queue.withdraw(write);
    const names = {
      run_id: ids.uuid(),
      thread_id: id,
      dispatch_id: ids.uuid(),
      session_id: ids.uuid(),
      at: write.at,
    };
    const messages = request.messages.map((message) => userMessage(ids.uuid(), message, names.run_id));
    const range = write.messages(messages, names.run_id);
    const run = newRun({
      ...names,
      agent_id: request.agent.spec.id,
      resolution_id: request.agent.resolution_id,
      origin: request.origin,
      adapter: request.adapter,
      mode: 'foreground',
      input: { range, trigger_message_ids: messages.map((message) => message.id) },
    });
    const queued = newDispatch({ ...names, epoch, maxAttempts: settings.mailbox.max_attempts });
    const dispatch = claim(queued, epoch, names.session_id, write.at, lease);
    logDispatch(write, 'RunQueued', queued);
    logDispatch(write, 'RunSubmitted', dispatch);
    write.run(run, undefined);
    write.dispatch(dispatch, undefined);
    const channel = createChannel({ held: true });
    request.attach(channel);
    const started = launch({ agent: request.agent, run, dispatch, channel, continued: false }, write);
    const durable = write.commit('input');
    started.start();
    durable.then(() => {
      channel.release();
      request.accept({ run_id: run.run_id, thread_id: id, dispatch_id: dispatch.dispatch_id });
    }, request.refuse);
  };

  /** Takes the next dispatch that may start. One that turns out to be void is settled, and the next one is tried. */
  const startNext = (): void => {
    const write = ledger.open(clock.now());
    const claimed = queue.take(write);
    const started = claimed && launch({ ...claimed, channel: createChannel({ held: false }) }, write);
    commitInBackground(write);
    if (started) started.start();
    else actor.send({ type: 'RUN_ENDED' });
  };

  const interruptActive = (write: Write): void => {
    const dispatch = execution?.dispatch();
    if (dispatch) logDispatch(write, 'RunInterrupted', dispatch);
  };

  const host: Host = {
    hasQueued: () => options.accepting() && queue.ready(clock.now()),
    continuesOpenRun: () => false,
    takesInput: () => false,
    hasOpenRun: () => false,
    startRun,
    startNext,
    bumpEpoch() {
      const write = ledger.open(clock.now());
      write.bumpEpoch();
      queue.withdraw(write);
      interruptActive(write);
      commitInBackground(write);
    },
    cancelActive: () => execution?.cancel(),
    holdClaimant(request) {
      claimant = request;
    },
    startClaimant() {
      const request = claimant;
      claimant = undefined;
      if (request) answering(request, startRun);
    },
    refuseClaimant() {
      claimant?.refuse(new Conflict(BUSY));
      claimant = undefined;
    },
    remove({ strategy, done, refuse }) {
      const record = ledger.record();
      if (!record) return refuse(new NotFound(`thread not found: ${id}`));
      const write = ledger.open(clock.now());
      write.bumpEpoch();
      queue.withdraw(write);
      interruptActive(write);
      write.remove();
      const facts = { ...threadFacts(record.thread), child_strategy: strategy };
      write.event('ThreadDeleted', facts, { correlation_id: id, origin: 'server' });
      write.commit('input').then(done, refuse);
      execution?.cancel();
      options.onRetired(ended().then(ledger.quiet));
    },
  };

  const armAlarm = (): void => {
    clearTimeout(alarm);
    const next = queue.nextAt();
    if (next !== undefined && !execution) alarm = setTimeout(wake, Math.max(0, next - clock.now())).unref();
  };

  const wake = (): void => {
    actor.send({ type: 'WAKE' });
    armAlarm();
  };

  const actor = createActor(options.threadMachine, { input: { host } });
  actor.subscribe({ error: retire });
  if (queue.orphaned()) {
    const write = ledger.open(clock.now());
    queue.reclaim(write);
    commitInBackground(write);
  }
  actor.start();

  return {
    ledger,
    submitForeground: (submission) =>
      new Promise((accept, refuse) => {
        actor.send({ type: 'FOREGROUND', request: { ...submission, accept, refuse } satisfies Foreground });
      }),
    wake,
    remove: (strategy) =>
      new Promise((resolve, refuse) => {
        actor.send({ type: 'DELETE', request: { strategy, done: resolve, refuse } satisfies Removal });
      }),
    release(reason) {
      clearTimeout(alarm);
      execution?.release(reason);
    },
    executing: () => execution !== undefined,
    passive: () =>
      execution === undefined && queue.size() === 0 && claimant === undefined && ledger.pending() === 0,
  };
};

const userMessage = (id: string, { role, content }: UserMessage, run_id: string): Message => ({
  id,
  role,
  content,
  metadata: { run_id },
});
