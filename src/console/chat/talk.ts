import type { FileUIPart, UIMessage } from 'ai';

/**
 * Milliseconds between two renders while a response streams. Deltas arrive faster than they can be drawn, and React
 * treats more than 50 renders without a pause as an infinite loop.
 */
export const DRAW_MS = 50;

/** A conversation with an agent, independent of where it is stored: its content, and the actions that are possible. */
export type Talk = {
  messages: readonly UIMessage[];
  isBusy: boolean;
  error: Error | undefined;
  /** Time until the user stopped the last response, in milliseconds. */
  stoppedMs?: number | undefined;
  send(text: string, files: FileUIPart[]): void;
  stop(): void;
  /** @param reason passed to the agent */
  decide(approvalId: string, approved: boolean, reason?: string): void;
  /** Returns the result of a tool that the page executes. */
  answer(call: Answer): void;
  /** Replaces an earlier message and removes all messages after it. */
  edit: Edit;
  /** Like `edit`, in a separate conversation. */
  fork?: Edit | undefined;
  again(): void;
};

/** @param files those of the message, which an edit keeps */
export type Edit = (messageId: string, text: string, files: FileUIPart[]) => void;

export type Answer = { tool: string; toolCallId: string } & ({ output: unknown } | { errorText: string });
