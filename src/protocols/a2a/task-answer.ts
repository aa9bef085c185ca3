import type { Artifact, Part } from './model.ts';
import { responseOf } from './projection.ts';

/**
 * The answer of an agent in pieces (a2a.md 10.1): what is appended together is the artifact that the task ends with.
 *
 * An answer that begins again replaces what was said of it. When the end is not what was heard, the artifact comes
 * whole.
 */
export type Answer = {
  /** The first piece is still to come. */
  begin(): void;
  /** It is under way, and this is what was said of it. `told`: whoever follows it has that. */
  resume(said: string, told: boolean): void;
  add(delta: string): void;
  /** Text that no piece had yet. */
  hasNews(): boolean;
  /** The next piece; undefined when there is none. */
  take(): Piece | undefined;
  /** What is missing of the artifact, as its last piece. */
  last(parts: Part[]): Piece;
  /** What the pieces so far say. */
  said(): Artifact | undefined;
};

export type Piece = { artifact: Artifact; append: boolean; lastChunk: boolean };

export const createAnswer = (): Answer => {
  let text = '';
  let taken = 0;

  const pieceOf = (rest: string, lastChunk: boolean): Piece => ({
    artifact: responseOf([{ text: rest }]),
    append: taken > 0,
    lastChunk,
  });

  return {
    begin() {
      text = '';
      taken = 0;
    },
    resume(said, told) {
      text = said;
      taken = told ? said.length : 0;
    },
    add(delta) {
      text += delta;
    },
    hasNews: () => text.length > taken,
    take() {
      if (text.length <= taken) return undefined;
      const piece = pieceOf(text.slice(taken), false);
      taken = text.length;
      return piece;
    },
    last(parts) {
      const [only, ...others] = parts;
      const isText = only && 'text' in only && others.length === 0;
      const whole = { artifact: responseOf(parts), append: false, lastChunk: true };
      if (!isText || taken === 0) return whole;
      return only.text.startsWith(text.slice(0, taken)) ? pieceOf(only.text.slice(taken), true) : whole;
    },
    said: () => (taken === 0 ? undefined : responseOf([{ text: text.slice(0, taken) }])),
  };
};
