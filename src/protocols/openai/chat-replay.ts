import { startOf, syntheticFinish } from '../../runtime/index.ts';
import type { Encoder } from '../../runtime/run/live-channel.ts';
import type { Message } from '../../schema/message.ts';
import type { RunEvent } from '../../schema/run-event.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import { type LogRow, replayedRows } from '../replay-events.ts';
import { textOfAnswer } from './chat-leg.ts';
import { reasoningOf } from './items.ts';

/**
 * Encodes a leg of a chat completion again, for a request that is repeated after its end (runtime.md 0.8).
 *
 * Guarantees: the texts and the reasoning are those of the history, each in one delta; the usage and the progress of
 * calls are those of the log. Without a log, the completion has no usage.
 * Relies on the clock to be later at each request of a run than at the end of the leg before it.
 */
export type EndedChatLeg = {
  run: RunRecord;
  /** Number of the leg within its run. */
  number: number;
  /** When the request arrived, in milliseconds. */
  from: number;
  /** The messages of the leg, oldest first. */
  messages: readonly Message[];
  /** The partial answer of a cancelled run. */
  stopped: Message | undefined;
};

/** Returns the frames of a leg; undefined while it has not ended. */
export const replayChatLeg = (
  rows: Iterable<LogRow>,
  encoder: Encoder,
  leg: EndedChatLeg,
): string | undefined => {
  const isLast = isLastLeg(leg);
  if (isLast && !isInactive(leg.run)) return undefined;
  const logged = [...replayedRows(rows)].flatMap(({ row, events }) =>
    row.event.created_at >= leg.from ? events : [],
  );
  const isEnd = ({ event_type }: RunEvent): boolean => event_type === 'run_finish';
  // A decision that another protocol makes continues a leg that has ended with a wait.
  const end = isLast ? logged.findLastIndex(isEnd) : logged.findIndex(isEnd);
  const events = end < 0 ? [] : logged.filter((event, index) => index < end && !isEnd(event));
  const finish = logged[end] ?? syntheticFinish(leg.run);
  let frames = encoder.event(startOf(leg.run));
  for (const event of end < 0 ? answersOf(leg) : withTexts(events, leg)) frames += encoder.event(event);
  return frames + encoder.event(finish);
};

/** Whether no later request has continued the run. */
export const isLastLeg = ({ run, number }: Pick<EndedChatLeg, 'run' | 'number'>): boolean =>
  (run.activation?.options.leg?.number ?? number) === number;

const isInactive = (run: RunRecord): boolean => hasTag(run, 'done') || hasTag(run, 'waiting');

/** Replaces the deltas of each step by the contents of its message. */
function* withTexts(
  events: readonly RunEvent[],
  { messages, stopped }: Pick<EndedChatLeg, 'messages' | 'stopped'>,
): Iterable<RunEvent> {
  const byId = new Map(messages.map((message) => [message.id, message]));
  let message: Message | undefined;
  for (const event of events) {
    if (event.event_type === 'step_start') {
      message = byId.get(event.message_id);
      yield event;
      if (message) yield* contentOf(message);
    } else if (!(message && DELTAS.has(event.event_type))) yield event;
  }
  if (stopped) yield* stepOf(stopped);
}

const DELTAS: ReadonlySet<RunEvent['event_type']> = new Set([
  'text_delta',
  'reasoning_delta',
  'stream_reset',
]);

/** Without a log. */
function* answersOf({ messages, stopped }: Pick<EndedChatLeg, 'messages' | 'stopped'>): Iterable<RunEvent> {
  for (const message of messages)
    if (message.role === 'assistant' && message.visibility === undefined) yield* stepOf(message);
  if (stopped) yield* stepOf(stopped);
}

function* stepOf(message: Message): Iterable<RunEvent> {
  yield { event_type: 'step_start', message_id: message.id };
  yield* contentOf(message);
}

function* contentOf(message: Message): Iterable<RunEvent> {
  const reasoning = reasoningOf(message);
  if (reasoning !== '') yield { event_type: 'reasoning_delta', delta: reasoning };
  const text = textOfAnswer(message);
  if (text !== '') yield { event_type: 'text_delta', delta: text };
}
