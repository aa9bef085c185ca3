import type { Message } from '../../schema/message.ts';
import { isShown, type Outlined } from './messages.ts';

/**
 * Finds the client messages of a history, and the tool messages that belong to their calls, in one pass that can be
 * interrupted between any two messages. Retains the places of messages and the ids of calls and runs, but no message.
 */
export type Outline<Place> = {
  /** Adds the messages of the read view, newest first. */
  add(message: Message, place: Place): void;
  /** The messages, newest first. */
  readonly messages: readonly Outlined<Place>[];
};

export const createOutline = <Place>(): Outline<Place> => {
  const messages: Outlined<Place>[] = [];
  /** Results of calls whose message has not been added yet, newest first. */
  const results = new Map<string, Place[]>();
  const runs = new Set<string>();

  /** A model may reuse an id in a later step, so a result belongs to the nearest earlier call with its id. */
  const takeResults = (calls: readonly { id: string }[]): Map<string, Place[]> => {
    const taken = new Map(calls.map(({ id }) => [id, (results.get(id) ?? []).reverse()]));
    for (const { id } of calls) results.delete(id);
    return taken;
  };

  const isLastStep = ({ metadata, tool_calls }: Message): boolean => {
    const run_id = metadata?.run_id;
    if (!tool_calls || run_id === undefined || runs.has(run_id)) return false;
    runs.add(run_id);
    return true;
  };

  return {
    messages,
    add(message, place) {
      const { tool_calls = [], tool_call_id } = message;
      const taken = tool_calls.length === 0 ? NONE : takeResults(tool_calls);
      if (tool_call_id !== undefined) {
        const earlier = results.get(tool_call_id);
        if (earlier) earlier.push(place);
        else results.set(tool_call_id, [place]);
      }
      const isLast = isLastStep(message);
      if (isShown(message)) messages.push({ place, results: taken, isLastStep: isLast });
    },
  };
};

const NONE: ReadonlyMap<string, never[]> = new Map();
