import t from 'tap';
import { estimateMessage, estimateMessages, estimateTools } from '../../../src/plugins/context/estimate.ts';
import { contextMessageId } from '../../../src/plugins/context/placed.ts';
import { effectivePolicy } from '../../../src/plugins/context/policy.ts';
import { shorteningLimits } from '../../../src/plugins/context/settings.ts';
import { shortenResult } from '../../../src/plugins/context/shorten.ts';
import { textTokens } from '../../../src/plugins/context/text-tokens.ts';
import { transformMessages } from '../../../src/plugins/context/transform.ts';
import { ContextPolicy } from '../../../src/schema/context-policy.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import fc from '../../random.ts';
import { assistant, calls, histories, openCalls, result, system, user } from './history.ts';

const LIMITS = shorteningLimits({ sections: {} });

const policy = (room: number, min_recent_messages = 0): ContextPolicy =>
  ContextPolicy.parse({
    max_context_tokens: room + 100,
    max_output_tokens: 100,
    min_recent_messages,
    enable_prompt_cache: false,
  });

const tool: ToolDescriptor = {
  id: 'abcd',
  name: 'A long name for people',
  description: '12345678',
  parameters: { type: 'object' },
  category: null,
};

const fitted = (messages: readonly Message[], room: number, recent = 0): readonly Message[] =>
  transformMessages({ system: [], messages, tools: [] }, policy(room, recent), LIMITS);

t.test('estimates a message as 4 tokens plus its content', async (t) => {
  const of = (content: Message['content']) => estimateMessage({ id: 'm', role: 'user', content });
  t.equal(of([]), 4);
  t.equal(of([{ type: 'text', text: 'two words' }]), 6);
  t.equal(
    of([
      { type: 'text', text: 'xxxx' },
      { type: 'image', source: { type: 'url', url: 'http://a' } },
    ]),
    4 + 1 + 1100,
  );
});

t.test('estimates a call as a block, or by its text if that is longer', async (t) => {
  const of = (args: string) =>
    estimateMessage({
      id: 'm',
      role: 'assistant',
      content: [],
      tool_calls: [{ id: 'c', name: 'tool', arguments: args }],
    });
  t.equal(of('short'), 54);
  t.equal(of('x '.repeat(250)), 4 + 1 + 252);
});

t.test('estimates a tool as 10 tokens plus the texts that the model reads', async (t) => {
  t.equal(
    estimateTools([tool]),
    10 + textTokens(tool.id) + textTokens(tool.description) + textTokens('{"type":"object"}'),
  );
});

t.test('shortens a tool result from 2048 tokens on, by characters or by lines', async (t) => {
  const shortened = (text: string) => {
    const message = shortenResult({ ...result('c'), content: [{ type: 'text', text }] }, LIMITS);
    return message.content[0]?.type === 'text' ? message.content[0].text : '';
  };
  const short = 'x '.repeat(2043);
  t.equal(shortened(short), short);
  t.equal(
    shortened(`${short}x`),
    `${'x '.repeat(800)}\n[Content compacted: original ~2048 tokens, showing first 1600 chars]`,
  );
  const lines = Array.from({ length: 5000 }, (_, index) => `${index}`);
  const kept = lines.slice(0, 24).join('\n');
  t.ok(shortened(lines.join('\n')).startsWith(`${kept}\n[Content compacted: `));
  t.ok(shortened('😀'.repeat(5000)).startsWith(`${'😀'.repeat(800)}\n[`));
  t.ok(shortened(`x${'😀'.repeat(5000)}`).startsWith(`x${'😀'.repeat(799)}\n[`));
});

t.test('shortens tool results only, and in the request only', async (t) => {
  const long = user(5000);
  const tool_result = result('a', 5000);
  const messages = [long, calls('a'), tool_result];
  const [first, , last] = fitted(messages, 1_000_000);
  t.equal(first, long);
  t.not(last, tool_result);
  t.equal(estimateMessage(tool_result), 5000);
});

t.test('leaves a fitting request unchanged', async (t) => {
  const messages = [user(10), assistant(10), user(10)];
  t.same(fitted(messages, 30), messages);
});

t.test('drops the oldest messages first, and no more than necessary', async (t) => {
  const messages = [user(10), assistant(10), user(10), assistant(10), user(10)];
  t.same(fitted(messages, 49), messages.slice(1));
  t.same(fitted(messages, 31), messages.slice(2));
  t.same(fitted(messages, 30), messages.slice(2));
});

t.test('keeps system messages, context and the last messages even if they do not fit', async (t) => {
  const context: Message = { ...user(10), id: contextMessageId('k') };
  const messages = [context, system(10), user(10), assistant(10), user(10), assistant(10), system(10)];
  t.same(fitted(messages, 1, 3), [context, messages[1], ...messages.slice(3)]);
});

t.test('keeps the latest visible user message even if it is not recent', async (t) => {
  const asked = user(10);
  const messages = [
    user(10),
    asked,
    calls('a'),
    result('a'),
    calls('b'),
    result('b'),
    calls('c'),
    result('c'),
  ];
  t.same(fitted(messages, 1, 2), [asked, ...messages.slice(-2)]);
});

t.test('keeps a call with its results if only the last one is recent', async (t) => {
  const messages = [user(10), calls('a', 'b'), result('a'), result('b')];
  t.same(fitted(messages, 1, 1), messages);
});

t.test('subtracts system texts and tools from the space for the history', async (t) => {
  const messages = [user(10), assistant(10), user(10)];
  const run = (more: { system?: string[]; tools?: ToolDescriptor[] }, room: number) =>
    transformMessages({ system: [], tools: [], ...more, messages }, policy(room), LIMITS).length;
  t.equal(run({}, 30), 3);
  t.equal(run({ system: ['abcd'] }, 30), 2);
  t.equal(run({ system: ['abcd'] }, 35), 3);
  t.equal(run({ tools: [tool] }, 30 + estimateTools([tool]) - 1), 2);
  t.equal(run({ tools: [tool] }, 30 + estimateTools([tool])), 3);
});

const staysAlways = (messages: readonly Message[], recent: number): Message[] => {
  const spoken = messages.filter(({ role }) => role !== 'system');
  const last = new Set(recent === 0 ? [] : spoken.slice(-recent));
  const latest = messages.findLast(({ role, visibility }) => role === 'user' && !visibility);
  return messages.filter((message) => message.role === 'system' || last.has(message) || message === latest);
};

t.test('keeps order, whole calls and required messages, and exceeds the limit only for these', async () => {
  fc.assert(
    fc.property(histories, fc.nat(6000), fc.nat(6), (messages, room, recent) => {
      const kept = fitted(messages, room, recent);
      const must = staysAlways(messages, recent);
      const ids = kept.map(({ id }) => id);
      const inOrder = messages.filter(({ id }) => ids.includes(id)).map(({ id }) => id);
      const whole = openCalls(kept).length === 0 && openCalls(messages).length === 0;
      // If the request does not fit, only required messages and their exchanges are kept.
      const fits = estimateMessages(kept) <= room;
      const extra = kept.filter((message) => !must.includes(message));
      const partOfMust = extra.every((message) => sharesExchange(messages, message, must));
      return (
        whole &&
        JSON.stringify(ids) === JSON.stringify(inOrder) &&
        must.every(({ id }) => ids.includes(id)) &&
        (fits || partOfMust)
      );
    }),
    { numRuns: 1000 },
  );
});

t.test('drops only messages that are older than all optional ones it keeps', async () => {
  fc.assert(
    fc.property(histories, fc.nat(6000), fc.nat(6), (messages, room, recent) => {
      const kept = new Set(fitted(messages, room, recent).map(({ id }) => id));
      const must = staysAlways(messages, recent);
      const free = messages.filter((message) => !sharesExchange(messages, message, must));
      const firstKept = free.findIndex(({ id }) => kept.has(id));
      const fits = estimateMessages(messages) <= room;
      if (fits) return kept.size === messages.length;
      return firstKept < 0 || free.slice(firstKept).every(({ id }) => kept.has(id));
    }),
    { numRuns: 1000 },
  );
});

/** Whether the message is one of these, or a call or result of one of these. */
const sharesExchange = (
  messages: readonly Message[],
  message: Message,
  others: readonly Message[],
): boolean => {
  const start = (of: Message): Message | undefined => {
    const index = messages.indexOf(of);
    return of.role === 'tool' ? messages.slice(0, index).findLast(({ role }) => role !== 'tool') : of;
  };
  return others.some((other) => start(other) === start(message));
};

t.test('limits a policy to the capabilities of the model', async (t) => {
  const given = { ...policy(1000), autocompact_threshold: 1000 };
  const numbers = (limits: Parameters<typeof effectivePolicy>[1]) => {
    const { max_context_tokens, max_output_tokens, autocompact_threshold } = effectivePolicy(given, limits);
    return [max_context_tokens, max_output_tokens, autocompact_threshold];
  };
  t.same(numbers({}), [1100, 100, 1000]);
  t.same(numbers({ context_window: 500 }), [500, 100, 400]);
  t.same(numbers({ context_window: 500, max_output_tokens: 50 }), [500, 50, 450]);
  t.same(numbers({ context_window: 100 }), [100, 100, undefined]);
});

t.test('requires the first four fields of a policy, fills the mode and ignores unknown fields', async (t) => {
  const { max_context_tokens, max_output_tokens, min_recent_messages, enable_prompt_cache } = policy(1);
  const required = { max_context_tokens, max_output_tokens, min_recent_messages, enable_prompt_cache };
  t.same(ContextPolicy.parse({ ...required, more: 1 }), {
    ...required,
    compaction_mode: 'keep_recent_raw_suffix',
    compaction_raw_suffix_messages: 2,
  });
  for (const field of Object.keys(required)) {
    t.notOk(ContextPolicy.safeParse({ ...required, [field]: undefined }).success, field);
  }
});
