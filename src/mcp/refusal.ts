import { wordsOf } from './failure.ts';

/** What a server is told instead of an answer; the client sends code and words as they are. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}

const INTERNAL = -32_603;

/** @throws Refusal always */
export const toRefusal = (error: unknown): never => {
  throw error instanceof Refusal ? error : new Refusal(INTERNAL, wordsOf(error));
};
