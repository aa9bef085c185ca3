import type { RunStream } from '../loop/turn.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { type CaptureMode, kindsOf } from './capture.ts';
import { type Attach, type Channel, createChannel } from './channel.ts';
import type { Write } from './write.ts';
import { logEvent } from './write.ts';

/**
 * Where the events of an execution go: to the readers of its channel at once, and into the event log with the
 * next commit. A wait ends the stream that readers have; what comes after it goes into a new one.
 */

export type LoggedStream = RunStream & {
  channel(): Channel;
  /** For the log only; the event leaves later, by itself. */
  log(event: RunEvent): void;
  /** An event about the thread, of no run. */
  tell(kind: string, payload: Record<string, unknown>): void;
  /** What came since the last commit goes into the write. */
  flush(write: Write, correlation_id: string): void;
  isOpen(): boolean;
  /** Closes the channel of now; the next one gets these readers too. */
  close(): void;
  /** The channel stays open and is somebody else's. */
  leave(): void;
  readersOfNext(attach: Attach): void;
  /** True when a new channel was opened, because the last one is closed. */
  reopen(): boolean;
};

export const createLoggedStream = (
  mode: CaptureMode,
  {
    run_id,
    channel: first,
    continued,
    watch,
  }: {
    run_id: string;
    channel: Channel;
    continued: boolean;
    /** Told of each channel, before anything goes into it. */
    watch?: { began(channel: Channel): void; ended(): void } | undefined;
  },
): LoggedStream => {
  const full = mode === 'full_fidelity';
  let channel = first;
  let open = true;
  let isContinued = continued;
  let captured: { kind: string; payload: Record<string, unknown>; ofThread?: true }[] = [];
  let waiting: Attach[] = [];
  watch?.began(first);

  const log = (event: RunEvent): void => {
    for (const kind of kindsOf(event, mode, isContinued)) captured.push({ kind, payload: event });
    if (event.event_type === 'run_start') isContinued = true;
  };

  return {
    channel: () => channel,
    log,
    emit(event) {
      log(event);
      channel.emit(event);
    },
    text(delta) {
      if (full) log({ event_type: 'text_delta', delta });
      channel.text(delta);
    },
    reasoning(delta) {
      if (full) log({ event_type: 'reasoning_delta', delta });
      channel.reasoning(delta);
    },
    toolDelta(id, args_delta) {
      if (full) log({ event_type: 'tool_call_delta', id, args_delta });
      channel.toolDelta(id, args_delta);
    },
    tell(kind, payload) {
      if (mode !== 'disabled') captured.push({ kind, payload, ofThread: true });
    },
    flush(write, correlation_id) {
      for (const { kind, payload, ofThread } of captured) {
        logEvent(write, kind, payload, ofThread ? { visibility: 'internal' } : { run_id, correlation_id });
      }
      captured = [];
    },
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
};
