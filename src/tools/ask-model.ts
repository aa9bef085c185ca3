/** A question to the model of the agent that called a tool, beside the conversation: its answer is the tool's. */

export type ModelQuestion = {
  system?: string | undefined;
  messages: readonly { role: 'user' | 'assistant'; text: string }[];
  temperature?: number | undefined;
  max_tokens?: number | undefined;
};

export type ModelAnswer = {
  text: string;
  /** As its provider calls it. */
  model: string;
  stop: 'EndTurn' | 'MaxTokens' | 'ToolUse' | 'StopSequence';
};
