import { wordsOf } from './failure.ts';

/** An error response to a server. The client sends code and message unchanged. */
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
