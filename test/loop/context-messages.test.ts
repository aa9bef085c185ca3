import t from 'tap';
import {
  type ContextStore,
  type ContextThrottle,
  dueForInjection,
  injectContext,
  placeContext,
  upsertContext,
} from '../../src/loop/context-messages.ts';
import type { ContextMessage, ContextTarget } from '../../src/plugins/plugin.ts';
import type { Message } from '../../src/schema/message.ts';
import { stateStore } from '../plugins/context.ts';
import fc from '../random.ts';

const context = (key: string, more: Partial<ContextMessage> = {}): ContextMessage => ({
  key,
  content: `text of ${key}`,
  target: 'system',
  ...more,
});

const keys = (messages: readonly ContextMessage[]): string[] => messages.map(({ key }) => key);

/** Steps of a run with one state: the messages scheduled for each, and the keys that are injected. */
const steps = (scheduled: readonly (readonly ContextMessage[])[]): string[][] => {
  const state = stateStore();
  return scheduled.map((added, step) => {
    const { due, state: changed } = injectContext(state.view, added, step);
    state.apply(changed);
    return keys(due);
  });
};

t.test('injects a message once, or in every step if it is persistent', async (t) => {
  t.same(steps([[context('once'), context('stays', { persistent: true })], [], []]), [
    ['once', 'stays'],
    ['stays'],
    ['stays'],
  ]);
});

t.test('replaces an older message with the same key', async (t) => {
  const store = upsertContext({ messages: [] }, [
    context('a'),
    context('b'),
    context('a', { content: 'new' }),
  ]);
  t.same(
    store.messages.map(({ key, content }) => [key, content]),
    [
      ['a', 'new'],
      ['b', 'text of b'],
    ],
  );
});

t.test('orders messages by target, then priority, then key', async (t) => {
  const messages = [
    context('z', { target: 'suffix_system', priority: -9 }),
    context('c', { target: 'conversation' }),
    context('s', { target: 'session', priority: 5 }),
    context('b'),
    context('a'),
    context('last', { priority: 1 }),
    context('first', { priority: -100 }),
  ];
  t.same(keys(dueForInjection({ messages }, {}, 0).due), ['first', 'a', 'b', 'last', 's', 'c', 'z']);
});

t.test('omits unchanged content during its cooldown, but not changed content', async (t) => {
  const note = (content: string) => [context('note', { content, cooldown_turns: 3 })];
  t.same(steps([note('a'), note('a'), note('b'), note('b'), note('b'), note('b')]), [
    ['note'],
    [],
    ['note'],
    [],
    [],
    ['note'],
  ]);
});

t.test('keeps a message through its cooldown until it was injected', async (t) => {
  const note = context('note', { cooldown_turns: 2 });
  t.same(steps([[note], [note], [], []]), [['note'], [], ['note'], []]);
});

t.test('changes no state in a step without remaining context messages', async (t) => {
  t.same(injectContext(stateStore().view, [], 0).state, []);
  t.same(injectContext(stateStore().view, [context('once')], 0).state, []);
});

const user: Message = { id: 'u', role: 'user', content: [{ type: 'text', text: 'hi' }] };
const placed = (...due: ContextMessage[]) => {
  const { system, messages } = placeContext('prompt', dueForInjection({ messages: due }, {}, 0).due, [user]);
  return {
    system,
    messages: messages.map(
      ({ role, content }) => `${role}: ${content[0]?.type === 'text' && content[0].text}`,
    ),
  };
};

t.test('orders a request as prompt, system, session, conversation, history, suffix', async (t) => {
  t.same(
    placed(
      context('4', { target: 'suffix_system' }),
      context('3', { target: 'conversation' }),
      context('2', { target: 'session' }),
      context('1'),
    ),
    {
      system: ['prompt', 'text of 1', 'text of 2', 'text of 3'],
      messages: ['user: hi', 'system: text of 4'],
    },
  );
});

t.test('keeps a user text before the history in its position among the system texts', async (t) => {
  t.same(
    placed(
      context('1'),
      context('2', { target: 'session', role: 'user' }),
      context('3', { target: 'conversation' }),
    ),
    {
      system: ['prompt', 'text of 1'],
      messages: ['user: text of 2', 'system: text of 3', 'user: hi'],
    },
  );
});

t.test('omits an empty system prompt and does not copy the history', async (t) => {
  const history = [user];
  const request = placeContext('', [], history);
  t.same(request.system, []);
  t.equal(request.messages, history);
});

t.test('leaves as many steps between injections of unchanged content as its cooldown', async () => {
  const target = fc.constantFrom<ContextTarget[]>('system', 'session', 'conversation', 'suffix_system');
  const message = fc.record({
    key: fc.constantFrom('a', 'b', 'c', '__proto__'),
    content: fc.constantFrom('x', 'y'),
    target,
    cooldown_turns: fc.nat(4),
    persistent: fc.boolean(),
    priority: fc.integer({ min: -2, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(fc.array(message, { maxLength: 3 }), { maxLength: 15 }), (scheduled) => {
      let store: ContextStore = { messages: [] };
      let throttle: ContextThrottle = {};
      const last = new Map<string, { step: number; content: string }>();
      return scheduled.every((added, step) => {
        store = upsertContext(store, added);
        const waiting = new Map(store.messages.map((one) => [one.key, one]));
        const injection = dueForInjection(store, throttle, step);
        ({ store, throttle } = injection);
        const injected = new Set(keys(injection.due));
        return [...waiting.values()].every(({ key, content, cooldown_turns = 0, persistent }) => {
          const before = last.get(key);
          const held =
            cooldown_turns > 0 && before?.content === content && step - before.step < cooldown_turns;
          if (injected.has(key) && cooldown_turns > 0) last.set(key, { step, content });
          const kept = store.messages.some((one) => one.key === key);
          return injected.has(key) === !held && kept === (held || persistent === true);
        });
      });
    }),
    { numRuns: 1000 },
  );
});
