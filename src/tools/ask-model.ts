/**
 * A request of a tool to the model of the calling agent, outside the conversation; only the tool receives the
 * completion.
 */

export type ModelQuestion = {
  system?: string | undefined;
  messages: readonly { role: 'user' | 'assistant'; text: string }[];
  temperature?: number | undefined;
  max_tokens?: number | undefined;
};

export type ModelAnswer = {
  text: string;
  /** Model name as its provider defines it. */
  model: string;
  stop: 'EndTurn' | 'MaxTokens' | 'ToolUse' | 'StopSequence';
};
