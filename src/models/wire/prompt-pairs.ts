import type { CallPart, PromptWriter, ResultPart } from './prompt-parts.ts';

/**
 * Pairs calls with their results, as every provider requires.
 *
 * Guarantees: the calls of a completion are followed directly by one piece with one result for each of them, in their
 * order; a call without a result gets an interrupted one; a result without its call becomes a user text. Pieces between
 * calls and their results are moved after them.
 */
export const pairCalls = (writer: PromptWriter): PromptWriter & { end(): void } => {
  let calls: readonly CallPart[] = [];
  let given: ResultPart[] = [];
  let isMarked = false;
  let held: (() => void)[] = [];
  const end = (): void => {
    const rest = [...given];
    const results = calls.map(({ id, name }) => {
      const at = rest.findIndex((result) => result.id === id);
      return (at < 0 ? undefined : rest.splice(at, 1)[0]) ?? { id, name, text: INTERRUPTED };
    });
    const isStable = isMarked;
    const after = held;
    calls = [];
    given = [];
    isMarked = false;
    held = [];
    if (results.length > 0) writer.results(results, isStable && rest.length === 0);
    if (rest.length > 0) writer.user(rest.map(textOf), isStable);
    for (const write of after) write();
  };
  return {
    system(text, isStable) {
      if (calls.length > 0) held.push(() => writer.system(text, isStable));
      else writer.system(text, isStable);
    },
    user(parts, isStable) {
      end();
      writer.user(parts, isStable);
    },
    assistant(parts, isStable) {
      end();
      writer.assistant(parts, isStable);
      calls = parts.filter((part) => part.type === 'call');
    },
    results(results, isStable) {
      given.push(...results);
      isMarked ||= isStable;
      if (calls.every(({ id }) => given.some((result) => result.id === id))) end();
    },
    end,
  };
};

const INTERRUPTED = '[Tool execution was interrupted]';

const textOf = ({ name, text }: ResultPart): { type: 'text'; text: string } => ({
  type: 'text',
  text: `[Result of ${name}] ${text}`.trimEnd(),
});
