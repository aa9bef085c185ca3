import type { TraceEvent, TraceSummary } from '../../schema/trace.ts';

/**
 * Maintains the summary of a trace event by event, so that listing needs no reading of traces (evals-and-traces.md
 * 9.2).
 */

export const newSummary = (run_id: string): TraceSummary => ({
  run_id,
  agent_id: '',
  started_at: 0,
  ended_at: null,
  prompt_ids: [],
  final_status: 'ok',
});

/** Mutates the summary, which belongs to the caller. */
export const follow = (summary: TraceSummary, event: TraceEvent): void => {
  if (summary.agent_id === '') summary.agent_id = textIn(event, 'agent_id') ?? '';
  extendSpan(summary, spanOf(event));
  const prompt = textIn(event, 'prompt_id');
  if (prompt !== undefined && !summary.prompt_ids.includes(prompt)) {
    summary.prompt_ids = [...summary.prompt_ids, prompt].sort();
  }
  const experiment = summary.experiment_id ?? textIn(event, 'experiment_id');
  if (experiment !== undefined) summary.experiment_id = experiment;
  const variant = summary.variant_name ?? textIn(event, 'variant_name');
  if (variant !== undefined) summary.variant_name = variant;
  if (hasFailed(event)) {
    summary.final_status = 'error';
    if (event.type === 'tool') summary.tool_errors = (summary.tool_errors ?? 0) + 1;
  }
  const { score_value } = event;
  if (event.type === 'evaluation_result' && typeof score_value === 'number') {
    summary.judge_score = Math.min(summary.judge_score ?? score_value, score_value);
  }
};

const extendSpan = (summary: TraceSummary, { start, end }: { start: number; end: number }): void => {
  if (start > 0 && (summary.started_at === 0 || start < summary.started_at)) summary.started_at = start;
  if (end > 0) summary.ended_at = Math.max(summary.ended_at ?? 0, end);
};

const textIn = (event: TraceEvent, field: string): string | undefined => {
  const value = event[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const spanOf = (event: TraceEvent): { start: number; end: number } => {
  const at = (...fields: string[]): number => {
    const value = fields.map((field) => event[field]).find((each) => typeof each === 'number');
    return typeof value === 'number' ? Math.floor(value / 1000) : 0;
  };
  return {
    start: at('started_at_ms', 'created_at_ms', 'timestamp_ms'),
    end: at('ended_at_ms', 'completed_at_ms', 'timestamp_ms', 'created_at_ms'),
  };
};

const hasFailed = (event: TraceEvent): boolean => {
  if (event.type === 'delegation') return event.success === false;
  if (event.type === 'background_task') return event.status === 'failed';
  return textIn(event, 'error_type') !== undefined;
};
