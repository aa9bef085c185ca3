import type { Spent } from '../../schema/cut-off.ts';
import type { Termination } from '../../schema/run.ts';

/** Records that the statistics of an agent count. */

type CalledModel = { provider: string; model: string };

export type CutOffRecord = CalledModel & Spent;

export type EndedRun = { run_id: string; termination: Termination['type'] };

export type InferenceRecord = CalledModel & {
  durationMs: number;
  /** The class of the failure. */
  error?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  usd?: number | undefined;
};

export type ToolRecord = { tool: string; durationMs: number; failed: boolean };
