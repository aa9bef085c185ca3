import type { RunEvent } from './run-event.ts';

/**
 * The kinds of events in the event log (runtime.md 13.4), each defined once. Only these kinds can be logged.
 *
 * `npm run tables` writes this table to `src/docs/reference/events.md`.
 */

/** The `when` of a kind is a clause with a subject. A `?` marks a key that is omitted when it has no value. */
type KindRow = { readonly when: string; readonly payload: readonly string[] };

const THREAD = ['thread_id', 'resource_id', 'parent_thread_id', 'title', 'created_at', 'updated_at'];

const DISPATCH = [
  ...['thread_id', 'run_id', 'dispatch_id', 'dispatch_epoch', 'attempt_count', 'status'],
  ...['available_at', 'created_at', 'updated_at'],
];

const DECISION = [
  ...['thread_id', 'run_id', 'dispatch_id', 'tool_call_id', 'decision_id', 'action', 'result', 'reason'],
  ...['decided_by?', 'below?', 'resume_updated_at', 'delivery_path'],
];

const EVAL_RUN = ['eval_run_id', 'dataset_id', 'dataset_revision', 'mode', 'started_at_secs'];

const EVAL_END = [
  ...[...EVAL_RUN, 'item_count', 'passed_count', 'failed_count', 'total_cost_usd'],
  ...['ended_at_secs', 'persisted'],
];

const BUDGET = ['budget', 'unit', 'spent', 'limit', 'share', 'resets_at?'];

const COMPACTION = ['task_id', 'boundary_message_id'];

/** Kinds whose payload is not an event of a run, by the object that they are about. */
export const EVENT_KINDS = {
  thread: {
    ThreadCreated: { when: 'a thread was created', payload: THREAD },
    ThreadUpdated: { when: 'a thread was changed', payload: [...THREAD, 'previous'] },
    ThreadForked: {
      when: 'a thread was created with the history of another one',
      payload: ['thread_id', 'from_thread_id', 'from_seq'],
    },
    ThreadDeleted: { when: 'a thread was deleted', payload: [...THREAD, 'child_strategy'] },
  },
  history: {
    MessageCommitted: {
      when: 'a message joined the history',
      payload: [
        ...['thread_id', 'run_id', 'message_id', 'message_seq', 'role', 'content_blocks'],
        ...['message_kind', 'parent_message_id'],
      ],
    },
    ThreadMessagesCheckpointed: {
      when: 'one commit added these messages to the history',
      payload: [
        ...['thread_id', 'run_id', 'message_seq_start', 'message_seq_end', 'message_count', 'message_ids'],
      ],
    },
  },
  dispatch: {
    RunQueued: { when: 'the dispatch was queued', payload: DISPATCH },
    RunSubmitted: { when: 'the dispatch was claimed for execution', payload: DISPATCH },
    RunInterrupted: {
      when: 'an interrupt or a foreground run stops the executing run',
      payload: DISPATCH,
    },
    RunRescheduled: {
      when: 'the dispatch was queued again after a failed attempt, the end of its process, or a graceful stop',
      payload: [...DISPATCH, 'reason', 'error?'],
    },
    MailboxTimeout: {
      when: 'the previous run did not release the thread in time',
      payload: [...DISPATCH, 'reason', 'timeout_ms'],
    },
    MailboxResumeFailed: {
      when: 'an accepted decision can no longer be applied',
      payload: [...DISPATCH, 'reason', 'error', 'decisions'],
    },
  },
  decision: {
    MailboxDecisionReceived: { when: 'a decision on a ticket was accepted', payload: DECISION },
    ToolPermissionResolved: {
      when: 'the decision permits or denies a call',
      payload: [...DECISION, 'approved'],
    },
  },
  compaction: {
    ContextCompactionStarted: {
      when: 'a summary of the oldest messages was requested',
      payload: ['thread_id', ...COMPACTION, 'started_at_ms'],
    },
    ContextCompactionCompleted: {
      when: 'the summary joined the history',
      payload: [
        ...['thread_id', ...COMPACTION, 'boundary_index', 'compaction_ordinal', 'total_compactions'],
        ...['pre_tokens', 'post_tokens', 'timestamp_ms', 'summary_hash'],
      ],
    },
    ContextCompactionFailed: {
      when: 'the summarizer failed',
      payload: [...COMPACTION, 'failure_index', 'error', 'timestamp_ms'],
    },
    ContextCompactionSkipped: {
      when: 'a summary would have saved, or has saved, too few tokens',
      payload: ['task_id?', 'boundary_message_id', 'skip_index', 'reason', 'pre_tokens', 'post_tokens?'],
    },
    ContextCompactionCancelled: {
      when: 'the run that waited for the summary ended',
      payload: [...COMPACTION, 'cancelled_at_ms'],
    },
  },
  budget: {
    BudgetWarning: { when: 'an inference reached a share of a limit', payload: BUDGET },
    BudgetExceeded: { when: 'an inference reached, or would exceed, a limit', payload: BUDGET },
  },
  eval: {
    EvalRunStarted: { when: 'an eval run started', payload: [...EVAL_RUN, 'planned_item_count'] },
    EvalRunCompleted: { when: 'an eval run ended', payload: EVAL_END },
    EvalRunCancelled: { when: 'an eval run was cancelled', payload: EVAL_END },
  },
} as const satisfies Record<string, Record<string, KindRow>>;

type RunKindRow = {
  /** The event of the run that is the payload. */
  readonly from: RunEvent['event_type'];
  readonly when: string;
  /** Whether the kind is logged in the capture mode `full_fidelity` only (runtime.md 13.3). */
  readonly observed?: true;
};

/** Kinds whose payload is an event of a run. */
const RUN_EVENT_KINDS = {
  RunStarted: { from: 'run_start', when: 'the run started' },
  RunResumed: { from: 'run_start', when: 'the run continues after a wait or with another process' },
  RunFinished: { from: 'run_finish', when: 'the run ended with `natural_end` or `behavior_requested`' },
  RunSuspended: { from: 'run_finish', when: 'the run waits' },
  RunCancelled: { from: 'run_finish', when: 'the run ended with `cancelled`' },
  RunErrored: { from: 'run_finish', when: 'the run ended with `error`' },
  RunTerminated: { from: 'run_finish', when: 'the run ended with `stopped` or `blocked`' },
  ToolCallReady: { from: 'tool_call_ready', when: 'the model has finished a call' },
  ToolCallDone: { from: 'tool_call_done', when: 'a call has a result' },
  ToolCallSuspended: { from: 'tool_call_done', when: 'a call waits for a decision' },
  ToolPermissionRequested: {
    from: 'tool_call_done',
    when: 'the decision has to permit the call; follows `ToolCallSuspended`',
  },
  ToolCallRejected: { from: 'tool_call_done', when: 'a gate forbade the call' },
  ToolCallTimedOut: { from: 'tool_call_done', when: 'the call exceeded its time limit' },
  ToolCallResumed: { from: 'tool_call_resumed', when: 'a decision was applied to a call' },
  ToolCallCancelled: { from: 'tool_call_cancel', when: 'a call of the model will not be executed' },
  StreamReset: { from: 'stream_reset', when: 'the output of the step was withdrawn' },
  InferenceComplete: { from: 'inference_complete', when: 'an inference ended' },
  ErrorRecorded: { from: 'error', when: 'an `error` event was emitted' },
  StepStarted: { from: 'step_start', when: 'a step started', observed: true },
  StepEnded: { from: 'step_end', when: 'a step ended', observed: true },
  TextDeltaObserved: { from: 'text_delta', when: 'text was streamed', observed: true },
  ReasoningDeltaObserved: { from: 'reasoning_delta', when: 'reasoning was streamed', observed: true },
  ReasoningEncryptedValueObserved: {
    from: 'reasoning_encrypted_value',
    when: 'encrypted reasoning was received',
    observed: true,
  },
  ToolCallStarted: { from: 'tool_call_start', when: 'the model began a call', observed: true },
  ToolCallDeltaObserved: { from: 'tool_call_delta', when: 'arguments were streamed', observed: true },
  ToolCallExecutingObserved: {
    from: 'tool_call_executing',
    when: 'a call has passed its gates, and its tool begins',
    observed: true,
  },
  ToolCallStreamDeltaObserved: {
    from: 'tool_call_stream_delta',
    when: 'a tool streamed output',
    observed: true,
  },
  ActivitySnapshotObserved: {
    from: 'activity_snapshot',
    when: 'progress or a part was emitted',
    observed: true,
  },
  ActivityDeltaObserved: { from: 'activity_delta', when: 'an activity was changed', observed: true },
  StateSnapshotObserved: { from: 'state_snapshot', when: 'the state was emitted', observed: true },
  StateDeltaObserved: { from: 'state_delta', when: 'a change of the state was emitted', observed: true },
  MessagesSnapshotObserved: {
    from: 'messages_snapshot',
    when: 'the messages were emitted',
    observed: true,
  },
} as const satisfies Record<string, RunKindRow>;

export type RunEventKind = keyof typeof RUN_EVENT_KINDS;

// The keys of a constant object are those of its type.
export const runEventKinds = Object.entries(RUN_EVENT_KINDS) as [RunEventKind, RunKindRow][];

type Groups = typeof EVENT_KINDS;

export type EventKind = RunEventKind | { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups];
