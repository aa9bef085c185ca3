import t from 'tap';
import { findPositions } from '../../../src/protocols/openai/chat-position.ts';
import { anchorsIn, askedDigest } from '../../../src/protocols/openai/transcript.ts';
import type { ImportedMessage } from '../../../src/runtime/index.ts';

const message = (role: 'user' | 'assistant', text: string): ImportedMessage => ({
  role,
  content: [{ type: 'text', text }],
});
const ask = (text: string) => message('user', text);
const answer = (text: string) => message('assistant', text);

const OF_CHAT = { scope: 's', chat: 'c', agent_id: 'a' };

t.test('looks up the last answers from the end, at most eight, and prefers the same question', (t) => {
  const messages = Array.from({ length: 12 }, (_, n) => [ask(`q${n}`), answer(`a${n}`)]).flat();
  const anchors = anchorsIn(messages);
  const looked: string[] = [];
  const rows = new Map([
    [
      anchors[6]?.digest,
      [
        { thread_id: 'new', seq: 9, asked: '', at: 2 },
        { thread_id: 'old', seq: 4, asked: askedDigest(ask('q6').content), at: 1 },
      ],
    ],
  ]);
  const transcripts = {
    find: ({ digest }: { digest: string }) => {
      looked.push(digest);
      return rows.get(digest) ?? [];
    },
  };
  const find = (isThere: (thread_id: string) => boolean) =>
    Array.from(findPositions({ transcripts, isThere, turn: () => undefined }, OF_CHAT, messages));
  t.match(
    find(() => true),
    [{ transcript: { thread_id: 'old' }, index: 13, isAnswer: true }],
  );
  // Each answer may be a stopped one, contain its continuation, or precede a question without an answer.
  t.equal(looked.length, 22);
  t.match(
    find((id) => id === 'new'),
    [{ transcript: { thread_id: 'new' } }],
  );
  looked.length = 0;
  t.strictSame(
    find(() => false),
    [],
  );
  t.equal(looked.length, 31);
  t.end();
});
