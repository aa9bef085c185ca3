import t from 'tap';
import {
  anchorsIn,
  askedDigest,
  digestsOf,
  findPosition,
  normalized,
} from '../../../src/protocols/openai/transcript.ts';
import type { ImportedMessage } from '../../../src/runtime/index.ts';

const message = (role: 'user' | 'assistant', text: string): ImportedMessage => ({
  role,
  content: [{ type: 'text', text }],
});
const ask = (text: string) => message('user', text);
const answer = (text: string) => message('assistant', text);

const OF_CHAT = { scope: 's', chat: 'c', agent_id: 'a' };

t.test('ignores what front ends change in answers', (t) => {
  t.equal(normalized(' a\n\n b\t'), 'a b');
  t.equal(normalized('a b\nc  d\u00a0e'), 'a b c d e');
  t.equal(normalized('<think>hm</think>a <details type="x">b\nc</details> d'), 'a d');
  for (const tag of ['think', 'thinking', 'reason', 'reasoning', 'thought', 'Thought']) {
    t.equal(normalized(`<${tag}>hm\n</${tag}>a`), 'a', tag);
    t.equal(normalized(`a <${tag}>, no end`), 'a', tag);
  }
  t.equal(normalized('<|begin_of_thought|>hm<|end_of_thought|>a'), 'a');
  t.equal(normalized('<reasons>a</reasons>'), '<reasons>a</reasons>');
  t.equal(normalized('e\u0301'), '\u00e9');
  t.equal(normalized('<detailsx>a</detailsx>'), '<detailsx>a</detailsx>');
  const file = `/v1/files/file-${'0'.repeat(32)}/content`;
  const signed = `${file}?expires=1765000400&signature=${'a'.repeat(64)}`;
  t.equal(normalized(`[a](https://x.test${signed})`), `[a](https://x.test${file})`);
  t.end();
});

t.test('digests depend on all answers, and on no question', (t) => {
  const digest = (...messages: ImportedMessage[]) => digestsOf(messages).digest;
  t.equal(digest(ask('a'), answer('x'), ask('b')), digest(ask('other'), answer(' x ')));
  t.not(digest(ask('a'), answer('x'), answer('y')), digest(ask('a'), answer('y')));
  t.not(digest(answer('x'), answer('y')), digest(answer('y'), answer('x')));
  t.equal(digest(ask('a')), '');
  t.equal(anchorsIn([ask('a'), answer(''), answer('x')]).length, 1);
  t.end();
});

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
    findPosition({ transcripts, isThere, answerText: () => '' }, OF_CHAT, messages);
  t.match(
    find(() => true),
    { transcript: { thread_id: 'old' }, anchor: { index: 13 } },
  );
  // Each answer may be a stopped one, or contain its continuation.
  t.equal(looked.length, 16);
  t.match(
    find((id) => id === 'new'),
    { transcript: { thread_id: 'new' } },
  );
  looked.length = 0;
  t.equal(
    find(() => false),
    undefined,
  );
  t.equal(looked.length, 24);
  t.end();
});
