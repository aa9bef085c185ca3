import { waitText } from '../../protocols/openai/waits.ts';
import type { ThreadView } from '../../runtime/index.ts';
import type { EndedLeg, Leg } from '../../schema/activation.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { type ChatInput, waitsOfRun } from './chat-input.ts';

/** The leg of a run that a chat completion begins, with the ends of the earlier ones, which may be asked for again. */

export type LegRequest = {
  input: Pick<ChatInput, 'continued'>;
  /** Messages that are imported in front of the leg. */
  history?: readonly unknown[];
  isKeyed: boolean;
  chat?: Leg['chat'];
};

export const newLeg = (
  { seq }: Pick<ThreadView, 'seq'>,
  { input: { continued }, history = [], isKeyed, chat }: LegRequest,
  hasKey: boolean,
): Leg => {
  const ended = continued ? endedLegs(continued, seq, isKeyed) : [];
  return {
    number: continued ? (continued.activation?.options.leg?.number ?? 0) + 1 : 0,
    seq: seq + history.length,
    ...(chat && { chat }),
    ...(hasKey && { is_keyed: true }),
    ...(ended.length > 0 && { ended }),
  };
};

/** Requests of a run that can be answered again. */
const MOST_ENDED = 32;

/** The ends of the requests with a key before this one. */
const endedLegs = (run: RunRecord, to_seq: number, isKeyed: boolean): EndedLeg[] => {
  const { leg } = run.activation?.options ?? {};
  const earlier = leg?.ended ?? [];
  if (!leg?.is_keyed) return earlier;
  const waits = waitsOfRun(run);
  const calls = waits.calls.map(({ tool_call_id }) => tool_call_id);
  const last = { number: leg.number, to_seq, calls, text: waitText(waits, isKeyed) };
  return [...earlier, last].slice(-MOST_ENDED);
};
