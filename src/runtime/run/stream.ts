import type { RunStream } from '../../loop/turn.ts';
import type { EventKind } from '../../schema/event-kinds.ts';
import type { RunEvent } from '../../schema/run-event.ts';
import type { WithdrawnText } from '../deps.ts';
import type { Write } from '../ledger/transaction.ts';
import { logEvent } from '../ledger/transaction.ts';
import { type CaptureMode, kindsOf } from './capture.ts';
import { type Attach, type Channel, createChannel } from './live-channel.ts';
import { createWithdrawn } from './withdrawn.ts';

/**
 * The sink of the events of an execution: they reach the readers of its channel at once, and the event log with the
 * next commit. A wait ends the current stream of its readers; later events go into a new stream.
 */

export type LoggedStream = RunStream & {
  channel(): Channel;
  /** Adds the event to the log only; the caller emits it later. */
  log(event: RunEvent): void;
  /** Logs an event about the thread, without a run. */
  tell(kind: EventKind, payload: Record<string, unknown>): void;
  /** Logs an event of the run that its stream does not contain. */
  record(kind: EventKind, payload: Record<string, unknown>): void;
  /** Adds the events since the last commit to the write. */
  flush(write: Write, correlation_id: string): void;
  /** Returns the texts that were streamed and withdrawn. */
  withdrawn(): readonly WithdrawnText[];
  isOpen(): boolean;
  /** Closes the current channel; its readers are not moved to the next one. */
  close(): void;
  /** Detaches from the channel, which stays open for another owner. */
  leave(): void;
  readersOfNext(attach: Attach): void;
  /** True when a new channel was opened, because the last one is closed. */
  reopen(): boolean;
};

type StreamOptions = {
  run_id: string;
  channel: Channel;
  /** Whether the log already contains the start of the run. */
  continued: boolean;
  /** Notified of each channel, before its first event. */
  watch?: { began(channel: Channel): void; ended(): void } | undefined;
};

export function createLoggedStream(
  mode: CaptureMode,
  { run_id, channel: first, continued, watch }: StreamOptions,
): LoggedStream {
  const full = mode === 'full_fidelity';
  const capture: Capture = { mode, run_id, isContinued: continued, captured: [] };
  const withdrawn = createWithdrawn();
  let channel = first;
  let open = true;
  let waiting: Attach[] = [];
  watch?.began(first);

  return {
    channel: () => channel,
    log: (event) => addEvent(capture, event),
    withdrawn: withdrawn.texts,
    emit(event) {
      withdrawn.note(event);
      addEvent(capture, event);
      channel.emit(event);
    },
    text(delta, whole) {
      if (full) addEvent(capture, { event_type: 'text_delta', delta });
      channel.text(delta, whole);
    },
    reasoning(delta, whole) {
      if (full) addEvent(capture, { event_type: 'reasoning_delta', delta });
      channel.reasoning(delta, whole);
    },
    toolDelta(id, args_delta) {
      if (full) addEvent(capture, { event_type: 'tool_call_delta', id, args_delta });
      channel.toolDelta(id, args_delta);
    },
    tell(kind, payload) {
      if (mode !== 'disabled') capture.captured.push({ kind, payload, ofThread: true });
    },
    record(kind, payload) {
      if (mode !== 'disabled') capture.captured.push({ kind, payload });
    },
    flush: (write, correlation_id) => flush(capture, write, correlation_id),
    isOpen: () => open,
    close() {
      if (!open) return;
      open = false;
      channel.close();
      watch?.ended();
    },
    leave() {
      open = false;
      watch?.ended();
    },
    readersOfNext(attach) {
      if (open) attach(channel);
      else waiting.push(attach);
    },
    reopen() {
      if (open) return false;
      open = true;
      channel = createChannel({ held: false });
      watch?.began(channel);
      for (const attach of waiting) attach(channel);
      waiting = [];
      return true;
    },
  };
}

/** The events for the log since the last commit. */
type Capture = {
  readonly mode: CaptureMode;
  readonly run_id: string;
  isContinued: boolean;
  captured: { kind: EventKind; payload: Record<string, unknown>; ofThread?: true }[];
};

function addEvent(capture: Capture, event: RunEvent): void {
  for (const kind of kindsOf(event, capture.mode, capture.isContinued))
    capture.captured.push({ kind, payload: event });
  if (event.event_type === 'run_start') capture.isContinued = true;
}

function flush(capture: Capture, write: Write, correlation_id: string): void {
  const { run_id } = capture;
  for (const { kind, payload, ofThread } of capture.captured) {
    logEvent(write, kind, payload, ofThread ? { visibility: 'internal' } : { run_id, correlation_id });
  }
  capture.captured = [];
}
