import t from 'tap';
import { writePrompt } from '../../../src/models/wire/prompt.ts';
import type { AssistantPart } from '../../../src/models/wire/prompt-parts.ts';
import { blockOfPart } from '../../../src/schema/answer-part.ts';
import type { Message } from '../../../src/schema/message.ts';
import { userMessage } from '../infer.ts';

/** The history of a thread in the form that all wire formats share. */

const origin = { provider: 'p', model: 'm', format: 'f' };

const partsOf = (answer: Omit<Message, 'id' | 'role'>): AssistantPart[] => {
  const written: AssistantPart[] = [];
  const ignore = (): void => {};
  writePrompt(
    { system: [], messages: [userMessage('Hi'), { id: 'a', role: 'assistant', ...answer }] },
    { modalities: undefined, systemFirst: false, ownPictures: false, origin },
    { system: ignore, user: ignore, results: ignore, assistant: (parts) => written.push(...parts) },
  );
  return written;
};

t.test('names long data of an answer, and keeps the place of the reasoning behind it', async (t) => {
  const item = { ...origin, after: { text: 3, calls: 0 }, item: { signature: 's' } };
  const content = [
    blockOfPart({ data: 'x'.repeat(5000) }),
    { type: 'text' as const, text: 'one' },
    { type: 'text' as const, text: 'two' },
  ];
  t.strictSame(partsOf({ content, metadata: { reasoning_items: [item] } }), [
    { type: 'text', text: '[data application/json, 5002 characters]\n' },
    { type: 'text', text: 'one' },
    { type: 'item', item: { signature: 's' } },
    { type: 'text', text: 'two' },
  ]);
});
