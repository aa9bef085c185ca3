import { z } from 'zod';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ModelAnswer, ModelQuestion } from '../tools/ask-model.ts';
import { Refusal } from './refusal.ts';

/**
 * Requests of a server to the model of the agent that called it (mcp.md B6). Only text is supported, and the agent
 * determines the model.
 */

export type AskModel = (question: ModelQuestion, signal: AbortSignal) => Promise<ModelAnswer>;

const Block = z.looseObject({ type: z.string(), text: z.string().optional() });

const Params = z.looseObject({
  messages: z.array(
    z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([Block, z.array(Block)]) }),
  ),
  systemPrompt: z.string().optional(),
  temperature: z.number().optional(),
  maxTokens: z.number().positive().optional(),
  stopSequences: z.array(z.string()).optional(),
  includeContext: z.string().optional(),
  tools: z.array(z.unknown()).optional(),
  toolChoice: z.unknown().optional(),
});

const INVALID = -32_602;
const REFUSED = -32_000;

const STOPS = {
  EndTurn: 'endTurn',
  MaxTokens: 'maxTokens',
  ToolUse: 'toolUse',
  StopSequence: 'stopSequence',
} as const satisfies Record<ModelAnswer['stop'], string>;

/** @throws Refusal */
export const sample = async (
  params: unknown,
  askModel: AskModel,
  signal: AbortSignal,
): Promise<JsonObject> => {
  const parsed = Params.safeParse(params);
  if (!parsed.success) throw new Refusal(INVALID, 'Invalid sampling/createMessage params');
  const { messages, systemPrompt, temperature, maxTokens } = parsed.data;
  refuseExtras(parsed.data);
  const answer = await askModel(
    {
      system: systemPrompt,
      messages: messages.map(({ role, content }) => ({ role, text: textOf(content) })),
      temperature,
      max_tokens: maxTokens === undefined ? undefined : Math.ceil(maxTokens),
    },
    signal,
  ).catch((error: unknown) => {
    throw new Refusal(
      REFUSED,
      `the model did not answer: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return {
    role: 'assistant',
    content: { type: 'text', text: answer.text },
    model: answer.model,
    stopReason: STOPS[answer.stop],
  };
};

const refuseExtras = ({
  messages,
  stopSequences = [],
  includeContext = 'none',
  tools = [],
  toolChoice,
}: z.infer<typeof Params>): void => {
  if (messages.length === 0) throw new Refusal(REFUSED, 'sampling needs a message');
  if (stopSequences.length > 0) throw new Refusal(REFUSED, 'stopSequences are not supported');
  if (includeContext !== 'none') throw new Refusal(REFUSED, 'includeContext is not supported');
  if (tools.length > 0 || toolChoice !== undefined)
    throw new Refusal(REFUSED, 'tools are not supported in sampling');
};

const textOf = (content: z.infer<typeof Block> | z.infer<typeof Block>[]): string => {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks
    .map(({ type, text }) => {
      if (type !== 'text' || text === undefined)
        throw new Refusal(REFUSED, `content of type ${type} is not supported in sampling`);
      return text;
    })
    .join('\n\n');
};
