import type { FileUIPart, UIMessage } from 'ai';

/**
 * Milliseconds between two drawings while an answer comes: deltas come faster than they can be drawn, and React takes
 * more than 50 renders without a pause for a loop.
 */
export const DRAW_MS = 50;

/** A conversation with an agent, wherever it is kept: what is shown of it, and what may be done. */
export type Talk = {
  messages: readonly UIMessage[];
  /** An answer is under way. */
  isBusy: boolean;
  error: Error | undefined;
  send(text: string, files: FileUIPart[]): void;
  /** Ends the run, and with it the answer. */
  stop(): void;
  /** @param reason is told to the agent */
  decide(approvalId: string, approved: boolean, reason?: string): void;
  /** For tools that the page executes. */
  answer(call: Answer): void;
  /** Says something else in the place of an earlier message; what came behind it is gone. */
  edit(messageId: string, text: string): void;
  /** Another answer to the last question. */
  again(): void;
};

export type Answer = { tool: string; toolCallId: string } & ({ output: unknown } | { errorText: string });
