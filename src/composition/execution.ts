import { randomUUID } from 'node:crypto';
import { type Assistant, createAssistant } from '../assistant/assistant.ts';
import { sweepCounters, sweepUsage } from '../budgets/sweep.ts';
import type { Configuration } from '../configuration/control-plane/service.ts';
import { createEventFeed, type EventFeed } from '../events/feed.ts';
import { createResolver } from '../files/references.ts';
import { createToolFiles } from '../files/tool-files.ts';
import { startSweep } from '../idempotency/index.ts';
import { createDecideCheck } from '../identity/decide-check.ts';
import { createTasks, type TaskService } from '../protocols/a2a/tasks.ts';
import { createHeldRuns, type HeldRuns } from '../protocols/openai/held-runs.ts';
import { createLegs, type Legs } from '../protocols/openai/legs.ts';
import { sweepResponses } from '../protocols/openai/response-sweep.ts';
import { createTranscriptBook } from '../protocols/openai/transcript.ts';
import { createReplayBuffers, type ReplayBuffers } from '../protocols/replay-buffer.ts';
import { createResumedChat } from '../routes/chat/resumed.ts';
import { createRuntime, type LegBook, type Runtime, type RunWatch } from '../runtime/index.ts';
import { monotonic } from '../schema/clock.ts';
import type { AuthorizationService } from './authorizations.ts';
import { createPausedRuns } from './budgets.ts';
import type { Foundation } from './foundation.ts';
import { type Observability, startObservability } from './observability.ts';

/** The parts that execute and observe runs. */
export type Execution = {
  readonly events: EventFeed | undefined;
  readonly observability: Observability;
  readonly tasks: TaskService;
  /** Responses of the OpenAI routes. */
  readonly openAiLegs: Legs;
  readonly chatStreams: ReplayBuffers;
  readonly heldRuns: HeldRuns;
  readonly runtime: Runtime;
  readonly assistant: Assistant;
  /** Resumes the runs of an earlier process, unless the settings leave that to the operator. */
  recover(): void;
  /** Waits up to `patience` milliseconds for executing runs, then releases them. */
  stop(patience: number, waiting: (runs: number) => void): Promise<void>;
};

/** @param accounts is notified of runs that may wait for an account */
export const createExecution = async (
  foundation: Foundation,
  config: Configuration,
  accounts: Pick<AuthorizationService, 'stored'>,
): Promise<Execution> => {
  const { input, settings, log, clock, ids, metrics, stores, store, meter, usage, accessLog, actors } =
    foundation;
  const { resolve } = config.live;
  const events = input.eventLog === false ? undefined : createEventFeed({ store, log });
  const observability = await startObservability(input, { stores, clock, log, metrics, resolve });
  const tasks = createTasks({ store, actors, log });
  const openAiLegs = openLegs(foundation);
  const chatStreams = openChatStreams(foundation);
  const hasLog = events !== undefined && settings.event_capture_mode !== 'disabled';
  const heldRuns = createHeldRuns();
  const paused = createPausedRuns({ meter, log }, () => runtime);
  const runtime: Runtime = createRuntime({
    store,
    events,
    traces: observability.runs,
    runs: watchedBy(tasks.runWatch, openAiLegs.runWatch, heldRuns, accounts, paused),
    onRunWritten: openAiLegs.onRunWritten,
    resumed: createResumedChat({ store, chatStreams, clock, hasLog }),
    legs: openTranscripts(foundation),
    meter,
    usage,
    recordAccess: accessLog.put,
    mayDecide: createDecideCheck(store),
    files: createResolver(foundation.files.get),
    toolFiles: (partition) => createToolFiles(foundation.files, partition),
    actors,
    clock,
    ids,
    settings,
    observe: observability.observe,
    log,
    resolve,
    worker: `troupe-${randomUUID()}`,
  });
  runtime.threads.onTransfer(({ scope, runs }) => (moved) => {
    if (!moved) return;
    tasks.moved(scope, runs);
    openAiLegs.moved(scope, runs);
  });
  const assistant = openAssistant(foundation, config, { runtime, observability });
  const stopSweeps = startSweeps(foundation, chatStreams);
  return {
    events,
    observability,
    tasks,
    openAiLegs,
    chatStreams,
    heldRuns,
    runtime,
    assistant,
    recover() {
      if (settings.mailbox.lifecycle !== 'auto') return;
      runtime.recover().catch((err) => log.error('recovery.failed', { err }));
      paused.recover();
    },
    async stop(patience, waiting) {
      stopSweeps();
      await runtime.stop(patience, waiting);
    },
  };
};

const openAssistant = (
  { store, log }: Foundation,
  { service, live }: Configuration,
  { runtime, observability }: Pick<Execution, 'runtime' | 'observability'>,
): Assistant =>
  createAssistant({
    config: service,
    store,
    runtime,
    live: live.models,
    hasRejectedKey: (provider) => observability.stats?.hasRejectedKey(provider) ?? false,
    log,
  });

/** Returns a function that stops them. */
const startSweeps = (foundation: Foundation, chatStreams: ReplayBuffers): (() => void) => {
  const sweepBudgets = sweepingCounters(foundation);
  const sweepOfResponses = sweepingResponses(foundation);
  const stopSweepingKeys = sweepingKeys(foundation);
  const sweepStreams = (): void => chatStreams.sweep(monotonic(foundation.clock));
  const sweep = setInterval(sweepStreams, SWEEP_MS).unref();
  return () => {
    clearInterval(sweep);
    clearInterval(sweepBudgets);
    clearInterval(sweepOfResponses);
    stopSweepingKeys();
  };
};

const openChatStreams = ({ settings, clock }: Foundation): ReplayBuffers =>
  createReplayBuffers({
    capacity: settings.replay_buffer_capacity,
    idleMs: settings.replay_buffer_idle_secs * 1000,
    clock,
  });

const openTranscripts = ({ store, log, files }: Foundation): LegBook =>
  createTranscriptBook(store, {
    fileLink: files.links.link,
    failed: (err) => log.warn('openai.transcript_failed', { err }),
  });

const openLegs = ({ store, clock, log, metrics }: Foundation): Legs =>
  createLegs({
    store,
    clock,
    log,
    legEnded: metrics.openAi.legEnded,
  });

/** Removes expired counters of budgets and old usage, at first after an hour. */
const sweepingCounters = ({ store, clock, settings, log }: Foundation): NodeJS.Timeout =>
  setInterval(() => {
    const until = clock.now() - settings.usage.retention_days * DAY_MS;
    const swept = sweepCounters(store, until).then(() => sweepUsage(store, until));
    swept.catch((err) => log.warn('budget.sweep_failed', { err }));
  }, HOUR_MS).unref();

/** Removes old responses, at first after an hour. */
const sweepingResponses = ({ store, clock, settings, log }: Foundation): NodeJS.Timeout =>
  setInterval(() => {
    const until = clock.now() - settings.openai.response_retention_days * DAY_MS;
    sweepResponses(store, until).catch((err) => log.warn('openai.sweep_failed', { err }));
  }, HOUR_MS).unref();

const sweepingKeys = ({ store, clock, settings, log }: Foundation): (() => void) =>
  startSweep({ store, clock, log, retentionMs: settings.idempotency.retention_secs * 1000 });

/** Interval at which abandoned streams are swept. */
const SWEEP_MS = 30_000;

/** Interval at which counters of budgets and responses are swept. */
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Watches in the order in which they are notified. */
const watchedBy = (...watches: readonly Partial<RunWatch>[]): RunWatch => ({
  began(...given) {
    for (const watch of watches) watch.began?.(...given);
  },
  ended(...given) {
    for (const watch of watches) watch.ended?.(...given);
  },
  stored(...given) {
    for (const watch of watches) watch.stored?.(...given);
  },
});
