import { createAnswer } from '../../../src/models/answer.ts';
import type { InferenceEnd, InferenceSource } from '../../../src/models/model.ts';
import { NOOP_SINK } from '../../../src/models/noop-sink.ts';
import type { Wire } from '../../../src/models/wire/wire.ts';
import type { AnswerPart } from '../../../src/schema/answer-part.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import type { Message, ReasoningItem } from '../../../src/schema/message.ts';
import type { ProviderCall } from '../../../src/schema/provider-tool.ts';

/** The output of a completion with provider calls, and the message that stores it. */
export type Answered = {
  text: string;
  calls: ProviderCall[];
  sources: InferenceSource[];
  parts: AnswerPart[];
  ends: InferenceEnd[];
  message: Message;
};

/** @param responses the events of each response; all but the last one are pauses */
export function answered(wire: Wire, ...responses: readonly (readonly JsonObject[])[]): Answered {
  const items: ReasoningItem[] = [];
  const toolCalls: NonNullable<Message['tool_calls']> = [];
  const names = new Map<string, string>();
  const found: Omit<Answered, 'message'> = { text: '', calls: [], sources: [], parts: [], ends: [] };
  const origin = { provider: 'p', model: 'm', format: wire.format };
  const answer = createAnswer(
    {
      ...NOOP_SINK,
      text: (delta) => {
        found.text += delta;
      },
      reasoningItem: (item) => items.push({ ...item, after: { text: found.text.length, calls: names.size } }),
      part: (part) => found.parts.push(part),
      source: (source) => found.sources.push(source),
      providerCall: (call) => found.calls.push(call),
      toolStart: (id, name) => names.set(id, name),
      toolEnd: (id, args) =>
        toolCalls.push({ id, name: names.get(id) ?? '', arguments: JSON.parse(args || '{}') }),
    },
    origin,
  );
  for (const [index, events] of responses.entries()) {
    const decoder = wire.decoder(answer);
    for (const event of events) if (decoder.push('', JSON.stringify(event))) break;
    const finish = decoder.end();
    if (index < responses.length - 1) answer.paused();
    else found.ends.push(answer.end(finish));
  }
  const message: Message = {
    id: 'answer',
    role: 'assistant',
    content: found.text === '' ? [] : [{ type: 'text', text: found.text }],
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    metadata: { reasoning_items: items },
  };
  return { ...found, message };
}

export const said = (id: string, text: string): Message => ({
  id,
  role: 'user',
  content: [{ type: 'text', text }],
});
