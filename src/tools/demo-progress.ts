import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { type Json, type Tool, ToolError, type ToolProgress } from './tool.ts';

/** A demo tool that reports progress; its scenarios differ in pace, detail and result. */

/** Resolves after `ms` milliseconds; rejects if the signal fires first. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const sleepFor: Sleep = (ms, signal) => delay(ms, undefined, { signal });

type Scenario = { everyMs: number; updates: ToolProgress[]; data: Record<string, Json> };

/** Creates `steps + 1` updates from 0 to 1; the first has the status `first`, the last is done. */
const updates = (
  first: 'pending' | 'running',
  steps: number,
  detail: (step: number) => Omit<ToolProgress, 'status' | 'progress'>,
): ToolProgress[] =>
  Array.from({ length: steps + 1 }, (_, step) => ({
    status: step === 0 ? first : step === steps ? 'done' : 'running',
    progress: step / steps,
    ...detail(step),
  }));

const DEPLOY_STAGES = [
  'Deployment queued',
  'Checking out sources',
  'Installing dependencies',
  'Running tests',
  'Building image',
  'Pushing image',
  'Applying manifests',
  'Starting pod 1/3',
  'Starting pod 2/3',
  'Starting pod 3/3',
  'Deployed v2.4.1',
];

const RECORDS = 500;

const SCENARIOS = {
  default: {
    everyMs: 500,
    updates: updates('pending', 10, (step) => ({
      message: step === 0 ? 'Starting...' : `Processing step ${step}/10...`,
    })),
    data: { steps: 10 },
  },
  data_pipeline: {
    everyMs: 600,
    updates: updates('running', 13, (step) => {
      const loaded = Math.round((RECORDS * step) / 13);
      return { loaded, total: RECORDS, message: `Processed ${loaded} of ${RECORDS} records` };
    }),
    data: { records_processed: RECORDS },
  },
  deploy: {
    everyMs: 800,
    updates: updates('pending', 10, (step) => ({ message: DEPLOY_STAGES[step] ?? '' })),
    data: { version: 'v2.4.1', pods: 3 },
  },
  slow_build: {
    everyMs: 400,
    updates: updates('pending', 20, (step) => ({
      message: step === 0 ? 'Build queued' : `Compiling module ${step}/20...`,
    })),
    data: { modules: 20 },
  },
  multi_phase: {
    everyMs: 500,
    updates: updates('running', 12, (step) => ({
      message: `Phase ${Math.max(1, Math.ceil(step / 4))}/3: ${step}/12 steps`,
    })),
    data: { phases: 3 },
  },
} satisfies Record<string, Scenario>;

export const createProgressDemo = (sleep: Sleep): Tool =>
  defineTool({
    id: 'progress_demo',
    name: 'Progress Demo',
    description: 'Runs a simulated long task and reports its progress.',
    category: 'demo',
    idempotent: true,
    input: z.object({
      scenario: z
        .enum(['default', 'data_pipeline', 'deploy', 'slow_build', 'multi_phase'])
        .default('default'),
    }),
    execute: async ({ scenario }, { signal, progress }) => {
      const { everyMs, updates, data } = SCENARIOS[scenario];
      for (const [index, update] of updates.entries()) {
        if (index > 0) await paused(sleep, everyMs, signal);
        progress(update);
      }
      return { data: { scenario, status: 'ok', ...data } };
    },
  });

const paused = async (sleep: Sleep, ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await sleep(ms, signal);
  } catch (cause) {
    throw signal.aborted ? new ToolError('cancelled', 'progress_demo was stopped', { cause }) : cause;
  }
};
