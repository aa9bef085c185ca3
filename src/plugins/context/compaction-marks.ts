import { z } from 'zod';
import { defineState } from '../../tools/state.ts';
import type { TooLittleGain } from './compaction.ts';
import type { CompactionOutcome, CompactionTask } from './compactor.ts';

/** Compaction counters of a thread, and the events that report compactions (runtime.md 13.4). Pure. */

const count = z.int().nonnegative();

const CompactionMarks = z.object({
  completed: count,
  failed: count,
  skipped: count,
  /** Summarizing up to this sequence number failed or was skipped; it is retried when more messages can be covered. */
  tried_to_seq: count,
});
export type CompactionMarks = z.infer<typeof CompactionMarks>;

export const compactionMarks = defineState({
  key: '__context_compaction',
  scope: 'thread',
  schema: CompactionMarks,
});

export const NO_COMPACTIONS: CompactionMarks = { completed: 0, failed: 0, skipped: 0, tried_to_seq: 0 };

export type CompactionEvent = {
  kind: `ContextCompaction${'Started' | 'Completed' | 'Failed' | 'Skipped' | 'Cancelled'}`;
  payload: Record<string, string | number>;
};

export const compactionStarted = (thread_id: string, task: CompactionTask): CompactionEvent => ({
  kind: 'ContextCompactionStarted',
  payload: {
    thread_id,
    task_id: task.task_id,
    boundary_message_id: task.plan.boundary_message_id,
    started_at_ms: task.started_at_ms,
  },
});

type MarkedEvent = { marks: CompactionMarks; event: CompactionEvent };

export const compactionEnded = (
  thread_id: string,
  marks: CompactionMarks,
  { task_id, plan, ended_at_ms, result }: CompactionOutcome,
): MarkedEvent => {
  const { boundary_message_id, pre_tokens, range } = plan;
  const of = { task_id, boundary_message_id };
  const tried_to_seq = range.to_seq;
  switch (result.kind) {
    case 'completed': {
      const completed = marks.completed + 1;
      const { post_tokens, summary_hash } = result;
      return {
        marks: { ...marks, completed },
        event: {
          kind: 'ContextCompactionCompleted',
          payload: {
            thread_id,
            boundary_index: marks.completed,
            compaction_ordinal: completed,
            total_compactions: completed,
            pre_tokens,
            post_tokens,
            timestamp_ms: ended_at_ms,
            summary_hash,
            ...of,
          },
        },
      };
    }
    case 'failed':
      return {
        marks: { ...marks, failed: marks.failed + 1, tried_to_seq },
        event: {
          kind: 'ContextCompactionFailed',
          payload: { failure_index: marks.failed, error: result.error, timestamp_ms: ended_at_ms, ...of },
        },
      };
    case 'skipped': {
      const { reason, post_tokens } = result;
      return skipped(marks, tried_to_seq, { reason, pre_tokens, post_tokens, ...of });
    }
    case 'cancelled':
      return {
        marks,
        event: { kind: 'ContextCompactionCancelled', payload: { cancelled_at_ms: ended_at_ms, ...of } },
      };
  }
};

/** Records a plan that was not worth a task. */
export const compactionSkipped = (marks: CompactionMarks, skip: TooLittleGain): MarkedEvent => {
  const { reason, range, boundary_message_id, pre_tokens } = skip;
  return skipped(marks, range.to_seq, { reason, pre_tokens, boundary_message_id });
};

const skipped = (
  marks: CompactionMarks,
  tried_to_seq: number,
  details: CompactionEvent['payload'],
): MarkedEvent => ({
  marks: { ...marks, skipped: marks.skipped + 1, tried_to_seq },
  event: { kind: 'ContextCompactionSkipped', payload: { skip_index: marks.skipped, ...details } },
});
